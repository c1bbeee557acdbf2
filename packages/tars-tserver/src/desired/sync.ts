/** What is to be done about each child, decided by its live form (tars.md 6 and 7). */
import { type DeepReadonly, type KubeObject, sameJson } from "@quartet/core";
import { difference } from "@quartet/pod-template";
import { DELAY_BIND_CLAIM } from "../labels.ts";
import type { ClaimTemplate, ContainerPort, DaemonSet, Service, StatefulSet } from "./k8s.ts";
import { mergeTemplate } from "./merge-template.ts";

/** How a child is brought to what is wanted. */
export type Step<T extends KubeObject> =
  | { readonly action: "none" }
  | { readonly action: "create" | "update"; readonly object: T }
  /** Deletes the live object, then creates it anew. */
  | {
      readonly action: "recreate";
      readonly object: T;
      readonly propagation: "Background" | "Orphan";
      /** Why, in words. */
      readonly because: string;
    };

const NONE = { action: "none" } as const;

/** Labels of a child with the managed ones as wanted. */
function withLabels<T extends KubeObject>(live: T, { metadata: { labels } }: KubeObject): T {
  return { ...live, metadata: { ...live.metadata, labels: { ...live.metadata.labels, ...labels } } };
}

/** Service: ports in their order, selector, type (MAP-015). */
export function syncService(wanted: Service, live: DeepReadonly<Service> | undefined): Step<Service> {
  if (live === undefined) return { action: "create", object: wanted };
  if (live.spec.clusterIP !== "None") {
    return {
      action: "recreate",
      object: wanted,
      propagation: "Background",
      because: "its cluster IP is not None",
    };
  }
  const next = withLabels(structuredClone(live) as Service, wanted);
  const { type, sessionAffinity, selector, ports } = wanted.spec;
  next.spec = { ...next.spec, type, sessionAffinity, selector } as Service["spec"];
  if (ports === undefined) delete next.spec.ports;
  else next.spec.ports = ports;
  return sameJson(next, live) ? NONE : { action: "update", object: next };
}

/** What a workload is compared with beside the wanted object. */
export interface Tolerance {
  /** Lists of container ports that are as good as the wanted one (MAP-058). */
  readonly ports: readonly (readonly ContainerPort[])[];
}

/** DaemonSet. */
export function syncDaemonSet(
  wanted: DaemonSet,
  live: DeepReadonly<DaemonSet> | undefined,
  { ports }: Tolerance,
): Step<DaemonSet> {
  if (live === undefined) return { action: "create", object: wanted };
  const next = withLabels(structuredClone(live) as DaemonSet, wanted);
  const template = mergeTemplate(wanted.spec.template, live.spec.template, ports);
  next.spec = {
    ...next.spec,
    ...(template && { template }),
    updateStrategy: strategy(wanted.spec.updateStrategy, live.spec.updateStrategy),
  };
  return template === undefined && sameJson(next, live) ? NONE : { action: "update", object: next };
}

/** StatefulSet; another set of claim templates needs a new one, since the field is immutable. */
export function syncStatefulSet(
  wanted: StatefulSet,
  live: DeepReadonly<StatefulSet> | undefined,
  { ports }: Tolerance,
): Step<StatefulSet> {
  if (live === undefined) return { action: "create", object: wanted };
  const templates = withDelayBind(wanted.spec.volumeClaimTemplates ?? [], live);
  const claims = compareClaims(templates, live.spec.volumeClaimTemplates ?? []);
  const because = describeClaims(claims);
  if (because !== undefined) {
    return {
      action: "recreate",
      object: { ...wanted, spec: { ...wanted.spec, volumeClaimTemplates: templates } },
      propagation: claims.added.length > 0 ? "Background" : "Orphan",
      because,
    };
  }
  const next = withLabels(structuredClone(live) as StatefulSet, wanted);
  const template = mergeTemplate(wanted.spec.template, live.spec.template, ports);
  next.spec = {
    ...next.spec,
    ...(template && { template }),
    replicas: wanted.spec.replicas ?? 0,
    updateStrategy: strategy(wanted.spec.updateStrategy, live.spec.updateStrategy),
  };
  return template === undefined && sameJson(next, live) ? NONE : { action: "update", object: next };
}

/** The peer's claim for pods bound to a node stays where it is (D9). */
function withDelayBind(wanted: ClaimTemplate[], live: DeepReadonly<StatefulSet>): ClaimTemplate[] {
  const found = live.spec.volumeClaimTemplates?.find(({ metadata }) => metadata.name === DELAY_BIND_CLAIM);
  if (found === undefined || wanted.some(({ metadata }) => metadata.name === DELAY_BIND_CLAIM)) return wanted;
  return [...wanted, structuredClone(found) as ClaimTemplate];
}

type Strategy = { type?: string; rollingUpdate?: object };

/** The wanted strategy; members of a rolling update that the server has added stay. */
function strategy(wanted: Strategy | undefined, live: DeepReadonly<Strategy> | undefined): Strategy {
  const { type, rollingUpdate } = wanted ?? {};
  return {
    ...(type !== undefined && { type }),
    ...(rollingUpdate && { rollingUpdate: { ...live?.rollingUpdate, ...rollingUpdate } }),
  };
}

/** How two sets of claim templates differ, by name. */
export interface ClaimDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Compares claim templates by name, then by what the user gives (MAP-073). */
export function compareClaims(
  wanted: readonly ClaimTemplate[],
  live: readonly DeepReadonly<ClaimTemplate>[],
): ClaimDifference {
  const nameOf = ({ metadata: { name } }: DeepReadonly<ClaimTemplate>): string => name ?? "";
  const [now, before] = [wanted, live].map((list) => new Map(list.map((claim) => [nameOf(claim), claim])));
  const names = [...now!.keys()];
  return {
    added: names.filter((name) => !before!.has(name)),
    removed: [...before!.keys()].filter((name) => !now!.has(name)),
    changed: names.filter((name) => before!.has(name) && !sameClaim(now!.get(name)!, before!.get(name)!)),
  };
}

const CLAIM_FIELDS = [
  "accessModes",
  "resources",
  "selector",
  "storageClassName",
  "volumeMode",
  "volumeName",
] as const;

function sameClaim(a: DeepReadonly<ClaimTemplate>, b: DeepReadonly<ClaimTemplate>): boolean {
  const compared = ({ metadata, spec }: DeepReadonly<ClaimTemplate>): object => ({
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
    spec: Object.fromEntries(CLAIM_FIELDS.map((field) => [field, spec[field]])),
  });
  // Of whatever version the reference is (D24).
  const owners = ({ metadata }: DeepReadonly<ClaimTemplate>): object[] =>
    (metadata.ownerReferences ?? []).map(({ uid, controller = false }) => ({ uid, controller }));
  return (
    difference("PersistentVolumeClaim", compared(a), compared(b)) === undefined &&
    sameJson(owners(a), owners(b))
  );
}

function describeClaims({ added, removed, changed }: ClaimDifference): string | undefined {
  const parts = Object.entries({ added, removed, changed })
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what} ${names.join(", ")}`);
  return parts.length === 0 ? undefined : `claim templates ${parts.join("; ")}`;
}
