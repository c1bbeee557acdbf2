/** How a DaemonSet wants its pods replaced. */
import type { DaemonSet, RollingUpdate } from "../kinds.ts";

/** Budget of a rolling update that names none (peer). */
const DEFAULT_UNAVAILABLE = 1;

export interface Strategy extends Required<Pick<RollingUpdate, "maxUnavailable" | "maxSurge" | "partition">> {
  /** Pods are replaced without somebody deleting them. */
  readonly rolls: boolean;
  readonly surges: boolean;
  /** Pods are changed without being made anew, where that can be done. */
  readonly isInPlace: boolean;
}

/**
 * For how long a pod must have been ready to be available, in milliseconds. The time of its readiness is written in whole
 * seconds, so a pod that became ready at the end of one seems a second older than it is (DSP-810).
 */
export function minReadyMsOf({ minReadySeconds = 0 }: Pick<DaemonSet["spec"], "minReadySeconds">): number {
  return minReadySeconds === 0 ? 0 : (minReadySeconds + 1) * 1_000;
}

/** The strategy with its defaults; of the two budgets, one that is not set counts as 0 beside the other (DSP-202). */
export function strategyOf({ updateStrategy = {} }: DaemonSet["spec"]): Strategy {
  const { type = "RollingUpdate", rollingUpdate = {} } = updateStrategy;
  const { maxUnavailable, maxSurge = 0, partition = 0, paused = false } = rollingUpdate;
  const isRolling = type === "RollingUpdate";
  return {
    maxUnavailable: maxUnavailable ?? (rollingUpdate.maxSurge === undefined ? DEFAULT_UNAVAILABLE : 0),
    maxSurge,
    partition: isRolling ? partition : 0,
    rolls: isRolling && !paused,
    isInPlace: rollingUpdate.rollingUpdateType === "InPlaceIfPossible",
    surges: isRolling && !["0", "0%"].includes(String(maxSurge)),
  };
}
