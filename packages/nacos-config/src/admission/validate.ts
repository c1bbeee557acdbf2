/** Checks of a resource that the CRD's schema cannot make. */
import { isDnsSubdomain, sameJson } from "@quartet/core";
import type { JsonMap } from "@quartet/core/kinds";
import { isMap, isQuantity, itemsOf, mapOf } from "@quartet/pod-template";
import { databaseKind, wantsMysqlInit } from "../desired/database.ts";
import { authSecretName, headlessServiceName, mysqlInitName } from "../desired/names.ts";
import {
  type NacosResource,
  type NacosType,
  type Settings,
  settingsOf,
  wrapperOf,
} from "../desired/settings.ts";
import { isPublicToken, isWeakToken } from "../desired/token.ts";
import {
  isConfigKey,
  isDnsLabel,
  MAX_LABEL_LENGTH,
  MAX_NODE_NAME_LENGTH,
  mysqlInitNameFault,
} from "./names.ts";

/** Most nodes: far more than a cluster can use, few enough for their list to fit into a variable. */
const MAX_NODES = 1_000;
/** Lists that are merged element by element: anything else in their place would get lost on the way to the server. */
const POD_LISTS = [
  "containers",
  "initContainers",
  "volumes",
  "tolerations",
  "hostAliases",
  "topologySpreadConstraints",
];
const CONTAINER_LISTS = ["env", "ports", "volumeMounts", "volumeDevices"];

/** A fault of a resource that keeps it from being carried out. */
export interface Violation {
  /** Field, for example `spec.image`. */
  readonly path: string;
  /** Reason of the SpecValid condition. */
  readonly reason: string;
  readonly message: string;
}

type Violations = Iterable<Violation>;

/** What exists already and limits the changes that are possible. */
export interface Existing {
  /** Type of the StatefulSet that exists. */
  readonly type?: NacosType;
  /** The StatefulSet was made by the peer: its defaults, insecure ones too, are in force already. */
  readonly adopted?: boolean;
}

/** All faults of the resource, in the order of the spec; none when it can be carried out. */
export function validate(resource: NacosResource, existing: Existing = {}): Violation[] {
  const settings = settingsOf(resource);
  const { adopted = false } = existing;
  return [
    ...nameViolations(settings, existing.type !== undefined || Boolean(resource.status?.templateRevision)),
    ...nodeViolations(settings, existing),
    ...configViolations(settings),
    ...databaseViolations(settings, adopted),
    ...tokenViolations(settings, adopted),
    ...volumeViolations(settings),
    ...wrapperViolations(settings),
  ];
}

function violation(path: string, reason: string, message: string): Violation {
  return { path, reason, message };
}

/** @param made the StatefulSet exists, or did so in the last pass */
function* nameViolations({ name, spec }: Settings, made: boolean): Violations {
  const invalid = (message: string): Violation => violation("metadata.name", "NameInvalid", message);
  if (!isDnsLabel(headlessServiceName(name))) {
    const limit = MAX_LABEL_LENGTH - headlessServiceName("").length;
    yield invalid(`"${name}" cannot name Services: it must be a DNS label of at most ${limit} characters`);
    return;
  }
  // Nodes that run go on being cared for: there the step reports that it cannot make its Job.
  if (made) return;
  const fault = wantsMysqlInit(spec) ? mysqlInitNameFault(name) : undefined;
  if (name.length > MAX_NODE_NAME_LENGTH) {
    const limit = `at most ${MAX_NODE_NAME_LENGTH} characters, it has ${name.length}`;
    yield invalid(`"${name}" is too long for the labels of its pods: it must have ${limit}`);
  } else if (fault !== undefined) {
    yield invalid(fault);
  }
}

/** Faults of type, image and number of the nodes. */
function* nodeViolations({ spec, type, replicas }: Settings, existing: Existing): Violations {
  const given: string | undefined = spec.type;
  if (given && given !== type) {
    yield violation("spec.type", "TypeUnknown", `"${given}" is neither standalone nor cluster`);
  } else if (existing.type !== undefined && existing.type !== type) {
    const message = `cannot change from ${existing.type} to ${type}: set it back, or create a new resource`;
    yield violation("spec.type", "TypeImmutable", message);
  }
  if (!spec.image) yield violation("spec.image", "ImageMissing", "is needed");
  if (replicas < 0) {
    yield violation("spec.replicas", "ReplicasInvalid", `${replicas} is negative`);
  } else if (replicas > MAX_NODES) {
    yield violation("spec.replicas", "ReplicasInvalid", `${replicas} is more than ${MAX_NODES}`);
  } else if (type === "standalone" && replicas > 1) {
    const message = `${replicas} nodes need type cluster: standalone is one node`;
    yield violation("spec.replicas", "StandaloneReplicas", message);
  }
}

/** Faults of the configuration's references, and of the generated object's name and kind. */
function* configViolations({ name: resourceName, config, spec }: Settings): Violations {
  if (config.mode !== "merged") return;
  const { sources, finalName, finalKind } = config;
  for (const { field, name, key, kind } of sources) {
    const path = `spec.${field}`;
    if (!isDnsSubdomain(name)) {
      yield violation(`${path}.name`, "NameInvalid", `"${name}" cannot name a ${kind}`);
    }
    if (!isConfigKey(key))
      yield violation(`${path}.key`, "KeyInvalid", `"${key}" cannot be a key of a ${kind}`);
    if (name === finalName && kind === finalKind) {
      const message = `${kind} ${name} is the generated object itself: refer to another, or change finalConfigName`;
      yield violation(path, "ConfigLoop", message);
    }
  }
  if (!isDnsSubdomain(finalName)) {
    yield violation("spec.finalConfigName", "NameInvalid", `"${finalName}" cannot name a ${finalKind}`);
  }
  // Two contents in one object would take turns for ever.
  const other = finalKind === "Secret" ? authSecretName(resourceName) : mysqlInitName(resourceName);
  if (finalName === other) {
    const message = `${finalKind} ${finalName} is another object of this resource: take a different name`;
    yield violation("spec.finalConfigName", "NameInvalid", message);
  }
  if (spec.finalConfigKind === "ConfigMap" && sources.some(({ kind }) => kind === "Secret")) {
    const message =
      "a Secret source must not end in a ConfigMap: leave finalConfigKind out, or set it to Secret";
    yield violation("spec.finalConfigKind", "SecretLeak", message);
  }
}

function* databaseViolations({ spec }: Settings, adopted: boolean): Violations {
  if (databaseKind(spec) !== "mysql") return;
  const { mysqlPort, mysqlPassword, credentialsSecretRef } = spec.database ?? {};
  if (!mysqlPassword && !credentialsSecretRef?.name && !adopted) {
    const message = "name a Secret with user name and password: there is no default password";
    yield violation("spec.database.credentialsSecretRef", "DatabasePasswordMissing", message);
  }
  if (mysqlPort && !/^\d{1,5}$/.test(mysqlPort)) {
    yield violation("spec.database.mysqlPort", "PortInvalid", `"${mysqlPort}" is no port number`);
  }
}

function* tokenViolations({ spec: { certification = {} } }: Settings, adopted: boolean): Violations {
  if (certification.enabled !== true) return;
  const { token, tokenSecretRef, token_expire_seconds: expiry } = certification;
  const kept = adopted && isPublicToken(token ?? "");
  if (token && !tokenSecretRef?.name && !kept && isWeakToken(token)) {
    const message = "Nacos needs base64 of at least 32 bytes; leave it out to have a key generated";
    yield violation("spec.certification.token", "TokenTooWeak", message);
  }
  if (expiry && !/^\d+$/.test(expiry)) {
    const path = "spec.certification.token_expire_seconds";
    yield violation(path, "NumberInvalid", `"${expiry}" is no number of seconds`);
  }
}

function* volumeViolations({ spec: { volume = {} } }: Settings): Violations {
  const template = mapOf(mapOf(volume.volumeClaimTemplate).spec);
  const sizes = {
    persistentVolumeSize: volume.persistentVolumeSize || undefined,
    "volumeClaimTemplate.spec.resources.requests.storage": mapOf(mapOf(template.resources).requests).storage,
    "requests.storage": volume.requests?.storage,
  };
  for (const [field, size] of Object.entries(sizes)) {
    if (size === undefined || isQuantity(size)) continue;
    const message = `${JSON.stringify(size)} is no quantity such as 10Gi`;
    yield violation(`spec.volume.${field}`, "QuantityInvalid", message);
  }
}

/** Faults of the wrapper, which has no schema: of the lists that its values are merged into. */
function* wrapperViolations({ spec }: Settings): Violations {
  const { PodSpec, podSpec } = spec.k8sWrapper ?? {};
  if (PodSpec !== undefined && podSpec !== undefined && !sameJson(PodSpec, podSpec)) {
    yield violation("spec.k8sWrapper", "WrapperAmbiguous", "PodSpec and podSpec differ: keep one of them");
    return;
  }
  const wrapper = wrapperOf(spec);
  const path = `spec.k8sWrapper.${PodSpec === undefined ? "podSpec" : "PodSpec"}`;
  yield* malformed(wrapper, POD_LISTS, path);
  for (const field of ["containers", "initContainers"]) {
    for (const [index, container] of itemsOf(wrapper[field]).entries()) {
      yield* malformed(container, CONTAINER_LISTS, `${path}.${field}[${index}]`);
    }
  }
}

function* malformed(object: JsonMap, fields: readonly string[], path: string): Violations {
  for (const field of fields) {
    const value = object[field] ?? [];
    const isList = Array.isArray(value) && value.every(isMap);
    if (!isList) yield violation(`${path}.${field}`, "WrapperInvalid", "must be a list of objects");
  }
}
