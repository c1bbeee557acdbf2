/** Which pods are missing and which are too many (DSP-725 to 737). */
import type { Eligibility } from "./eligibility.ts";
import { type IntOrPercent, scaled } from "./limits.ts";
import type { PodFacts } from "./objects.ts";

/** A node, or the name of one that is gone, with the DaemonSet's pods there. */
export interface NodePlan {
  readonly name: string;
  /** `undefined` for a node that does not exist. */
  readonly eligibility: Eligibility | undefined;
  readonly pods: readonly PodFacts[];
  /** A pod is on its way out: no other takes its place before it is gone, except as a surge. Default false. */
  readonly terminating?: boolean;
  /** Its template cannot be made: it gets no pod, and its pod is left alone (DSP-511). Default false. */
  readonly broken?: boolean;
}

export interface ManageSettings {
  readonly surge: boolean;
  readonly burst: IntOrPercent;
  /** Nodes left without a pod (DSP-736); 0 unless creation is limited by the partition. */
  readonly creationPartition: IntOrPercent;
  /** A pod is available when it has been ready for so long; milliseconds. */
  readonly minReadyMs: number;
  readonly now: number;
}

export type DeletionReason =
  | "ineligible"
  | "failed"
  | "succeeded"
  | "duplicate"
  | "replaced"
  | "noNode"
  | "released";

export interface Deletion {
  readonly pod: PodFacts;
  readonly reason: DeletionReason;
}

export interface ManagePlan {
  /** Names of nodes that get a pod, those that come first being first. */
  readonly create: readonly string[];
  readonly remove: readonly Deletion[];
}

/** Pods to create and to delete, within the burst. */
export function planManagement(nodes: readonly NodePlan[], settings: ManageSettings): ManagePlan {
  const desired = nodes.filter(({ eligibility }) => eligibility?.shouldRun).length;
  const remove = nodes
    .flatMap((node) => deletionsOn(node, settings))
    .filter(({ pod }) => !(pod.preparingDelete && pod.hooked));
  const missing = nodes
    .filter(({ eligibility, pods }) => eligibility?.shouldRun && pods.length === 0)
    .filter(({ terminating = false, broken = false }) => !broken && (settings.surge || !terminating))
    .map(({ name }) => name)
    .sort();
  const burst = burstOf(settings.burst, desired);
  const room = creationRoom(nodes, desired, settings);
  return { create: missing.slice(0, Math.min(burst, room)), remove: remove.slice(0, burst) };
}

/** Creates, and deletes, of one pass at most (DSP-733, D26). */
export function burstOf(burst: IntOrPercent, desired: number): number {
  const count = scaled(burst, desired, "down");
  const configured = typeof burst === "number" ? burst : Number.parseInt(burst, 10);
  return count === 0 && configured > 0 ? 1 : count;
}

function creationRoom(
  nodes: readonly NodePlan[],
  desired: number,
  { creationPartition }: ManageSettings,
): number {
  const partition = scaled(creationPartition, desired, "down");
  if (partition === 0) return Number.POSITIVE_INFINITY;
  const running = nodes.filter(({ pods }) => pods.some(({ current }) => current)).length;
  return Math.max(0, desired - running - partition);
}

/** Whether a pod counts as serving for what may be replaced (DSP-810). */
export function isAvailable(pod: PodFacts, minReadyMs: number, now: number): boolean {
  return !pod.preparingDelete && isServing(pod, minReadyMs, now);
}

/** Whether a pod serves now, be it about to go or not: what the status counts (DSP-827). */
export function isServing({ readySince, updating }: PodFacts, minReadyMs: number, now: number): boolean {
  return updating !== true && readySince !== undefined && now - readySince >= minReadyMs;
}

/** Scheduled before unscheduled, then the oldest, then by name: the first one is kept (DSP-729). */
export function comparePods(a: PodFacts, b: PodFacts): number {
  if (a.scheduled !== b.scheduled) return a.scheduled ? -1 : 1;
  return a.created - b.created || (a.name < b.name ? -1 : 1);
}

function deletionsOn({ eligibility, pods }: NodePlan, settings: ManageSettings): Deletion[] {
  if (eligibility === undefined) {
    return pods.filter(({ scheduled }) => !scheduled).map((pod) => ({ pod, reason: "noNode" }));
  }
  if (!eligibility.shouldContinue) return pods.map((pod) => ({ pod, reason: "ineligible" }));
  const ended = pods.flatMap((pod): Deletion[] =>
    pod.phase === "Failed"
      ? [{ pod, reason: "failed" }]
      : pod.phase === "Succeeded"
        ? [{ pod, reason: "succeeded" }]
        : [],
  );
  const live = pods.filter(({ phase }) => phase !== "Failed" && phase !== "Succeeded").sort(comparePods);
  // What was once begun ends, once its hook has let go.
  const released = live
    .filter(({ preparingDelete }) => preparingDelete)
    .map((pod): Deletion => ({ pod, reason: "released" }));
  const staying = live.filter(({ preparingDelete }) => !preparingDelete);
  return [...ended, ...released, ...(settings.surge ? excessWithSurge(staying, settings) : excess(staying))];
}

function excess(live: readonly PodFacts[]): Deletion[] {
  return live.slice(1).map((pod) => ({ pod, reason: "duplicate" }));
}

/** One current and one stale pod may stand side by side until the current one serves (DSP-730). */
function excessWithSurge(live: readonly PodFacts[], { minReadyMs, now }: ManageSettings): Deletion[] {
  const [current, ...moreCurrent] = live.filter((pod) => pod.current);
  const [stale, ...moreStale] = live.filter((pod) => !pod.current);
  const duplicates = [...moreCurrent, ...moreStale].map((pod): Deletion => ({ pod, reason: "duplicate" }));
  if (current === undefined || stale === undefined) return duplicates;
  const done = stale.readySince === undefined || isAvailable(current, minReadyMs, now);
  return done ? [...duplicates, { pod: stale, reason: "replaced" }] : duplicates;
}
