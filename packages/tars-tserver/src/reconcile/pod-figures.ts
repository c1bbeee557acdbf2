/** Figures of a server's pods. */
import { type DeepReadonly, keyOf } from "@quartet/core";
import { isRouted, podStates } from "../desired/endpoint-status.ts";
import type { Pod } from "../desired/k8s.ts";
import { ACTIVE_GATE } from "../labels.ts";
import type { Pass } from "./pass.ts";

/** Shows how many pods are routed to, and how long the gates of those that newly are have taken. */
export function measurePods({ server, pods, memory, metrics }: Pick<Pass, Needed>): void {
  const states = podStates(pods);
  const active = new Set(states.filter(isRouted).map(({ uid = "" }) => uid));
  metrics.holds(keyOf(server), active.size, states.length - active.size);
  const before = memory.active;
  memory.active = active;
  // Of pods that were there before this process nobody knows whether they have been counted.
  if (before === undefined) return;
  for (const pod of pods) {
    const { uid = "" } = pod.metadata;
    if (!active.has(uid) || before.has(uid)) continue;
    const seconds = gateSeconds(pod);
    if (seconds !== undefined) metrics.gateSet(seconds);
  }
}

type Needed = "server" | "pods" | "memory" | "metrics";

/** Time from when the containers were ready until the gate was set; `undefined` for a pod without one. */
function gateSeconds({ status }: DeepReadonly<Pod>): number | undefined {
  const since = (type: string): number =>
    Date.parse(status?.conditions?.find((condition) => condition.type === type)?.lastTransitionTime ?? "");
  const seconds = (since(ACTIVE_GATE) - since("ContainersReady")) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
