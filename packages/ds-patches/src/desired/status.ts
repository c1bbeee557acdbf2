/** Counters of the status (DSP-827 to 833). */
import type { PatchStatus } from "../kinds.ts";
import { comparePods, isServing, type NodePlan } from "./manage.ts";
import type { PodFacts } from "./objects.ts";

export interface Counters {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly updatedNumberScheduled: number;
  readonly numberAvailable: number;
  readonly numberUnavailable: number;
}

export interface CountOptions {
  readonly minReadyMs: number;
  readonly now: number;
}

/** The pod by which a node is judged: scheduled before unscheduled, then the oldest. */
export function judgedPod({ pods }: NodePlan): PodFacts | undefined {
  return [...pods].sort(comparePods)[0];
}

export function countNodes(nodes: readonly NodePlan[], { minReadyMs, now }: CountOptions): Counters {
  const eligible = nodes.filter(({ eligibility }) => eligibility?.shouldRun);
  const judged = eligible.map(judgedPod).filter((pod) => pod !== undefined);
  const available = judged.filter((pod) => isServing(pod, minReadyMs, now)).length;
  return {
    currentNumberScheduled: judged.length,
    numberMisscheduled: nodes.filter(
      ({ eligibility, pods }) => eligibility !== undefined && !eligibility.shouldRun && pods.length > 0,
    ).length,
    desiredNumberScheduled: eligible.length,
    numberReady: judged.filter(({ readySince }) => readySince !== undefined).length,
    updatedNumberScheduled: judged.filter(({ current }) => current).length,
    numberAvailable: available,
    numberUnavailable: eligible.length - available,
  };
}

/** Counters that people and programs wait for to reach the desired number. */
const AWAITED = [
  "currentNumberScheduled",
  "updatedNumberScheduled",
  "numberReady",
  "numberAvailable",
] as const;

/** Whether something that is waited for has come true: all nodes have a pod, a current one, a ready one (DSP-830). */
export function completes(next: Partial<Counters>, before: Partial<Counters>): boolean {
  const isReached = (counters: Partial<Counters>, name: (typeof AWAITED)[number]): boolean =>
    (counters[name] ?? 0) === (counters.desiredNumberScheduled ?? 0);
  return AWAITED.some((name) => isReached(next, name) && !isReached(before, name));
}

/** For each patch the eligible nodes that it matches, and those of them that run it. */
export function countPatches(
  count: number,
  nodes: readonly (NodePlan & { readonly patchIndexes: readonly number[] })[],
): PatchStatus[] {
  const eligible = nodes.filter(({ eligibility }) => eligibility?.shouldRun);
  return Array.from({ length: count }, (_, index) => {
    const matched = eligible.filter(({ patchIndexes }) => patchIndexes.includes(index));
    const updated = matched.filter((node) => judgedPod(node)?.current).length;
    return { index, matchedNodes: matched.length, updatedNodes: updated };
  });
}
