/**
 * When a change of the pods has to wait. Pods that are Ready but not yet available count as down to the StatefulSet
 * controller, which then replaces all of them at once (measured on Kubernetes 1.37): a cluster would lose its quorum.
 */
import type { Clock, DeepReadonly } from "@quartet/core";
import type { Pod, StatefulSet } from "@quartet/core/kinds";
import { nodesOf } from "../health/node-facts.ts";
import type { ResourceMemory } from "./memory.ts";

/** A pod that keeps failing becomes Ready again and again: a change that may mend it waits no longer, milliseconds. */
const MAX_HOLD_MS = 60_000;

/** How many ready pods of a StatefulSet a change of them waits for; 0: it may go on. */
export function podsToAwait(
  { memory, clock }: { readonly memory: ResourceMemory; readonly clock: Clock },
  live: DeepReadonly<StatefulSet>,
  pods: readonly DeepReadonly<Pod>[],
): number {
  const awaited = awaitedPods(live, pods);
  if (awaited === 0) {
    delete memory.heldSince;
    return 0;
  }
  memory.heldSince ??= clock.now();
  return clock.now() - memory.heldSince < MAX_HOLD_MS ? awaited : 0;
}

/**
 * Ready pods that are not available yet, where more than one pod is not: of a single one the controller replaces no
 * other. Pods that are not Ready are not waited for: the change may be what mends them.
 */
export function awaitedPods(live: DeepReadonly<StatefulSet>, pods: readonly DeepReadonly<Pod>[]): number {
  const { spec, status = {} } = live;
  const { availableReplicas: available, replicas = 0 } = status;
  if (typeof available !== "number") return 0;
  const ready = nodesOf(live, pods).filter((node) => node.ready).length;
  const down = Math.min(spec.replicas ?? 1, replicas) - available;
  return down > 1 ? Math.max(0, ready - available) : 0;
}
