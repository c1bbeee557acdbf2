/** Objects without what the API server assigns and fills in, so that recorded and live ones can be compared. */
import { isDeepStrictEqual } from "node:util";
import { defaultOf, type KeyOf, keyOfList } from "@quartet/pod-template";
import { BUILT_IN, type Shape, type TypeName } from "@quartet/strategic-merge";
import type { Json } from "@quartet/testing/replay";

/** Annotations of the product's own, on the metadata of its objects. */
const OWN_ANNOTATIONS = "nacos.io/";
/** Empty values that mean something. */
const MEANINGFUL_WHEN_EMPTY = new Set(["emptyDir"]);

/** What the server fills in beside pod templates, by type. */
const DEFAULTS: Readonly<Record<TypeName, Json>> = {
  PersistentVolumeClaim: { apiVersion: "v1", kind: "PersistentVolumeClaim" },
  "apps.v1.StatefulSetSpec": {
    revisionHistoryLimit: 10,
    podManagementPolicy: "OrderedReady",
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
  },
  "apps.v1.StatefulSetUpdateStrategy": { rollingUpdate: { partition: 0, maxUnavailable: 1 } },
  ServiceSpec: {
    type: "ClusterIP",
    sessionAffinity: "None",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    internalTrafficPolicy: "Cluster",
    externalTrafficPolicy: "Cluster",
    allocateLoadBalancerNodePorts: true,
    publishNotReadyAddresses: false,
  },
  ServicePort: { protocol: "TCP", targetPort: (port: Json) => port.port },
  "batch.v1.JobSpec": {
    parallelism: 1,
    completions: 1,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
  },
};

const SPECS: Readonly<Record<string, TypeName>> = {
  StatefulSet: "apps.v1.StatefulSetSpec",
  Service: "ServiceSpec",
  Job: "batch.v1.JobSpec",
};

/** Fields of a Service's spec whose values the server assigns. */
const ASSIGNED = ["clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"];
/** Labels of a Job's pods, and its selector, that carry the Job's own uid. */
const JOB_LABELS = [
  "controller-uid",
  "batch.kubernetes.io/controller-uid",
  "job-name",
  "batch.kubernetes.io/job-name",
];

/** What of an object is compared. The data of ConfigMaps and Secrets is kept byte by byte. */
export function normalChild(object: Json): Json {
  const { kind, spec, data, immutable, type } = object;
  const metadata = normalMetadata((object.metadata ?? {}) as Json);
  if (kind === "ConfigMap" || kind === "Secret")
    return compact({ metadata, immutable, type: type === "Opaque" ? undefined : type, data });
  const own = kind === "Service" ? normalService(spec) : kind === "Job" ? normalJob(spec) : spec;
  return compact({ metadata, spec: bare(own ?? {}, { kind: "map", type: SPECS[String(kind)] ?? "" }) });
}

function normalMetadata({ name, labels, annotations, ownerReferences }: Json): Json {
  const foreign = Object.entries((annotations ?? {}) as Json).filter(
    ([key]) => !key.startsWith(OWN_ANNOTATIONS),
  );
  const owners = ((ownerReferences ?? []) as Json[]).map(({ uid: _uid, ...owner }) => owner);
  return compact({ name, labels, annotations: Object.fromEntries(foreign), ownerReferences: owners });
}

function normalService(spec: unknown): Json {
  const { clusterIP, ports, ...rest } = spec as Json;
  for (const field of ASSIGNED) delete rest[field];
  return {
    ...rest,
    ...(clusterIP === "None" ? { clusterIP } : {}),
    ports: ((ports ?? []) as Json[]).map(({ nodePort: _assigned, ...port }) => port),
  };
}

function normalJob(spec: unknown): Json {
  const { selector: _own, template, ...rest } = spec as Json & { template: { metadata?: Json } };
  const labels = { ...(template.metadata?.labels as Json | undefined) };
  for (const label of JOB_LABELS) delete labels[label];
  return { ...rest, template: { ...template, metadata: { ...template.metadata, labels } } };
}

/** The value without defaults and empty values, its keyed lists in the order of their keys. */
function bare(value: unknown, shape: Shape | undefined, key?: KeyOf): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => bare(item, shape?.kind === "list" ? shape.items : undefined));
    return key === undefined ? items : items.sort((a, b) => compare(key(a as Json), key(b as Json)));
  }
  if (!isMap(value)) return value;
  const type = shape?.kind === "map" ? shape.type : "";
  const types = BUILT_IN.types.get(type);
  // Of two members that are each other's default the last stays: a default is not taken from what is gone.
  const left: Json = { ...value };
  const entries = Object.keys(value)
    .sort()
    .flatMap((member): [string, unknown][] => {
      const inner = bare(value[member], types?.get(member)?.shape, keyOfList(type, member, []));
      const fallback = DEFAULTS[type]?.[member];
      const filled =
        typeof fallback === "function" ? fallback(left) : (fallback ?? defaultOf(type, member, left));
      if (filled !== undefined && isDeepStrictEqual(filled, inner)) {
        delete left[member];
        return [];
      }
      return member === "status" || member === "creationTimestamp" ? [] : [[member, inner]];
    });
  return compact(Object.fromEntries(entries));
}

/** Without members that are absent or empty to the server. */
function compact(map: Json): Json {
  return Object.fromEntries(
    Object.entries(map).filter(([member, value]) => MEANINGFUL_WHEN_EMPTY.has(member) || !isEmpty(value)),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).length === 0;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
