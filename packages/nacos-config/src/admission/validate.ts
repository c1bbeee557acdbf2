/** Checks of a resource that the CRD's schema cannot make. */
import { sameJson } from "@quartet/core";
import { wantsMysqlInit } from "../desired/database.ts";
import { headlessServiceName } from "../desired/names.ts";
import {
  type NacosResource,
  type NacosType,
  type Settings,
  settingsOf,
  wrapperOf,
} from "../desired/settings.ts";
import { isDnsLabel, MAX_LABEL_LENGTH, MAX_NODE_NAME_LENGTH, mysqlInitNameFault } from "./names.ts";
import { configViolations } from "./validate-config.ts";
import { storageViolations } from "./validate-storage.ts";
import { malformedLists } from "./validate-wrapper.ts";
import type { Violation } from "./violation.ts";

/** Most nodes: far more than a cluster can use, few enough for their list to fit into a variable. */
const MAX_NODES = 1_000;

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
  return [
    ...nameViolations(settings, existing.type !== undefined || Boolean(resource.status?.templateRevision)),
    ...typeViolations(settings, existing),
    ...imageViolations(settings),
    ...replicasViolations(settings),
    ...configViolations(settings),
    ...storageViolations(settings, existing.adopted ?? false),
    ...wrapperViolations(settings),
  ];
}

/** @param made the StatefulSet exists, or did so in the last pass */
function nameViolations({ name, spec }: Settings, made: boolean): Violation[] {
  const violation = (message: string): Violation[] => [
    { path: "metadata.name", reason: "NameInvalid", message },
  ];
  if (!isDnsLabel(headlessServiceName(name))) {
    const limit = MAX_LABEL_LENGTH - headlessServiceName("").length;
    return violation(`"${name}" cannot name Services: it must be a DNS label of at most ${limit} characters`);
  }
  // Nodes that run go on being cared for: there the step reports that it cannot make its Job.
  if (made) return [];
  if (name.length > MAX_NODE_NAME_LENGTH) {
    const limit = `at most ${MAX_NODE_NAME_LENGTH} characters, it has ${name.length}`;
    return violation(`"${name}" is too long for the labels of its pods: it must have ${limit}`);
  }
  if (!wantsMysqlInit(spec)) return [];
  const fault = mysqlInitNameFault(name);
  return fault === undefined ? [] : violation(fault);
}

function typeViolations({ spec, type }: Settings, existing: Existing): Violation[] {
  const given = spec.type as string | undefined;
  if (given && given !== type) {
    return [
      { path: "spec.type", reason: "TypeUnknown", message: `"${given}" is neither standalone nor cluster` },
    ];
  }
  if (existing.type === undefined || existing.type === type) return [];
  const message = `cannot change from ${existing.type} to ${type}: set it back, or create a new resource`;
  return [{ path: "spec.type", reason: "TypeImmutable", message }];
}

function imageViolations({ spec }: Settings): Violation[] {
  return !spec.image ? [{ path: "spec.image", reason: "ImageMissing", message: "is needed" }] : [];
}

function replicasViolations({ type, replicas }: Settings): Violation[] {
  const path = "spec.replicas";
  if (replicas < 0) return [{ path, reason: "ReplicasInvalid", message: `${replicas} is negative` }];
  if (replicas > MAX_NODES) {
    return [{ path, reason: "ReplicasInvalid", message: `${replicas} is more than ${MAX_NODES}` }];
  }
  if (type !== "standalone" || replicas <= 1) return [];
  const message = `${replicas} nodes need type cluster: standalone is one node`;
  return [{ path, reason: "StandaloneReplicas", message }];
}

function wrapperViolations({ spec }: Settings): Violation[] {
  const { PodSpec, podSpec } = spec.k8sWrapper ?? {};
  if (PodSpec !== undefined && podSpec !== undefined && !sameJson(PodSpec, podSpec)) {
    const message = "PodSpec and podSpec differ: keep one of them";
    return [{ path: "spec.k8sWrapper", reason: "WrapperAmbiguous", message }];
  }
  return malformedLists(wrapperOf(spec), `spec.k8sWrapper.${PodSpec === undefined ? "podSpec" : "PodSpec"}`);
}
