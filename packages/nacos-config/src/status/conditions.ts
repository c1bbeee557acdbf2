/** Standard conditions. */
import type { DeepReadonly } from "@quartet/core";
import type { Nacos } from "../api.gen.ts";

export type Condition = NonNullable<NonNullable<Nacos["status"]>["operatorConditions"]>[number];

/** A condition without its times. */
export interface ConditionState {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Longest message (API convention). */
const MAX_MESSAGE = 32_768;

/**
 * The conditions in the order of `states`. The time of a transition moves only when the status does.
 * @param now RFC 3339
 */
export function updateConditions(
  previous: readonly DeepReadonly<Condition>[],
  states: readonly ConditionState[],
  generation: number,
  now: string,
): Condition[] {
  return states.map(({ type, status, reason, message }) => {
    const before = previous.find((condition) => condition.type === type);
    return {
      type,
      status,
      observedGeneration: generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : now,
      reason,
      message: message.slice(0, MAX_MESSAGE),
    };
  });
}
