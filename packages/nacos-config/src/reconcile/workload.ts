/** What the StatefulSet's own status and its pods say of a rollout. */
import type { DeepReadonly } from "@quartet/core";
import type { StatefulSet } from "@quartet/core/kinds";
import { mapOf } from "@quartet/pod-template";
import { selectorText } from "../desired/selector.ts";
import { revisionOf } from "../desired/statefulset.ts";
import type { NodeFacts } from "../health/node-facts.ts";
import type { WorkloadReport } from "../status/outcome.ts";

/** True when the StatefulSet controller has seen the latest template and every pod runs it. */
export function isRolledOut(statefulSet: DeepReadonly<StatefulSet>): boolean {
  const { metadata, spec, status = {} } = statefulSet;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  const revisions = status.updateRevision === undefined || status.updateRevision === status.currentRevision;
  return revisions && (status.updatedReplicas ?? 0) >= (spec.replicas ?? 1);
}

/**
 * True while pods are being replaced for another template; the first pods of a StatefulSet replace none. Those below a
 * partition that somebody set are not meant to be replaced: once all others are, nothing is under way.
 */
function isRolling({ metadata, spec, status = {} }: DeepReadonly<StatefulSet>): boolean {
  if (status.updateRevision === undefined) return false;
  const observed = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (!observed) return true;
  if (status.updateRevision === status.currentRevision) return false;
  const partition = partitionOf(spec);
  return partition === 0 || (status.updatedReplicas ?? 0) < (spec.replicas ?? 1) - partition;
}

/** Ordinal below which pods keep the old template; 0: none does. */
function partitionOf(spec: DeepReadonly<StatefulSet>["spec"]): number {
  const { partition } = mapOf(mapOf(spec.updateStrategy).rollingUpdate);
  return typeof partition === "number" ? partition : 0;
}

/** True when old pods are left below a partition. */
function heldBack({ spec, status = {} }: DeepReadonly<StatefulSet>): boolean {
  return partitionOf(spec) > 0 && status.updateRevision !== status.currentRevision;
}

/**
 * State of the workload.
 * @param scaledFrom number of nodes before a change of it that is still under way
 */
export function workloadReport(
  statefulSet: DeepReadonly<StatefulSet>,
  nodes: readonly NodeFacts[],
  scaledFrom: number | undefined,
): WorkloadReport {
  const { spec, status = {} } = statefulSet;
  const replicas = spec.replicas ?? 1;
  const rolling = isRolling(statefulSet);
  const readyPods = nodes.filter((node) => node.ready).length;
  const stuck = nodes.findLast((node) => !node.ready)?.podName;
  return {
    replicas: status.replicas ?? 0,
    readyPods,
    updatedReplicas: status.updatedReplicas ?? 0,
    revision: revisionOf(statefulSet),
    selector: selectorText(spec.selector),
    unreported: status.observedGeneration === undefined,
    rolling,
    scaling: scaledFrom !== undefined && (readyPods < replicas || (status.replicas ?? 0) !== replicas),
    ...(rolling && stuck !== undefined ? { stuckPod: stuck } : {}),
    ...(heldBack(statefulSet) && { partition: partitionOf(spec) }),
  };
}
