/** The hook before a pod's deletion (DSP-738, 739). */
import type { DeepReadonly } from "@quartet/core";
import type { Pod } from "@quartet/core/kinds";
import { mapOf } from "../json.ts";
import type { DaemonSet } from "../kinds.ts";
import { seconds } from "./in-place.ts";
import { KRUISE_POD_READY, LIFECYCLE_STATE, LIFECYCLE_TIME, PREPARING_DELETE } from "./keys.ts";

/** Entry in the message of a condition that says who made a pod unready (Kruise). */
const UNREADY_MESSAGE = JSON.stringify([{ userAgent: "Lifecycle", key: "preDeleteHook" }]);

export interface PreDelete {
  /** Whether the hook still holds a pod: by the value of a label, or by a finalizer. */
  holds(pod: DeepReadonly<Pod>): boolean;
  /** Pods are made unready while they wait. */
  readonly marksNotReady: boolean;
}

/** The hook of a DaemonSet; `undefined` when it has none. */
export function compilePreDelete({ lifecycle }: DaemonSet["spec"]): PreDelete | undefined {
  const { preDelete } = mapOf(lifecycle);
  if (preDelete === undefined || preDelete === null) return undefined;
  const { labelsHandler, finalizersHandler, markPodNotReady } = mapOf(preDelete);
  const labels = Object.entries(mapOf(labelsHandler));
  const finalizers = Array.isArray(finalizersHandler) ? finalizersHandler : [];
  return {
    holds: ({ metadata }) =>
      labels.some(([key, value]) => metadata.labels?.[key] === value) ||
      finalizers.some((finalizer) => metadata.finalizers?.includes(finalizer as string) === true),
    marksNotReady: markPodNotReady === true,
  };
}

/** What a pod gets that has to wait for its hook. */
export function preparingMetadata(now: number): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  return {
    labels: { [LIFECYCLE_STATE]: PREPARING_DELETE },
    annotations: { [LIFECYCLE_TIME]: seconds(now) },
  };
}

/** The conditions that keep a waiting pod from being called. */
export const NOT_READY_CONDITIONS: readonly {
  type: string;
  status: "False";
  reason?: string;
  message?: string;
}[] = [
  { type: KRUISE_POD_READY, status: "False", message: UNREADY_MESSAGE },
  { type: "Ready", status: "False", reason: "ReadinessGatesNotReady" },
];
