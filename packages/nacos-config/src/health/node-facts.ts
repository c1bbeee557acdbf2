/** What the health check knows of a pod. */
import { controllerOf, type DeepReadonly } from "@quartet/core";
import type { Pod, StatefulSet } from "@quartet/core/kinds";

export interface NodeFacts {
  readonly ordinal: number;
  readonly podName: string;
  readonly podIP: string;
  readonly hostIP: string;
  readonly nodeName: string;
  readonly ready: boolean;
}

/** The StatefulSet's own living pods, by ordinal. */
export function nodesOf(
  statefulSet: DeepReadonly<StatefulSet>,
  pods: readonly DeepReadonly<Pod>[],
): NodeFacts[] {
  return pods
    .filter((pod) => controllerOf(pod)?.uid === statefulSet.metadata.uid)
    .filter((pod) => pod.metadata.deletionTimestamp === undefined)
    .map((pod) => ({
      ordinal: ordinalOf(pod.metadata.name ?? ""),
      podName: pod.metadata.name ?? "",
      podIP: pod.status?.podIP ?? "",
      hostIP: pod.status?.hostIP ?? "",
      nodeName: pod.spec?.nodeName ?? "",
      ready: isReady(pod),
    }))
    .sort((a, b) => a.ordinal - b.ordinal);
}

function isReady(pod: DeepReadonly<Pod>): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function ordinalOf(podName: string): number {
  return Number(/-(\d+)$/.exec(podName)?.[1] ?? Number.NaN);
}

/** Least number of ready nodes of a working cluster: more than half. */
export function quorumOf(replicas: number): number {
  return Math.floor(replicas / 2) + 1;
}
