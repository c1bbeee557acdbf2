/** The resource's standard conditions. */
import { type Condition, type DeepReadonly, setCondition } from "@quartet/core";

/** A condition without times and generation. */
export interface ConditionState {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export function conditionState(
  type: string,
  status: ConditionState["status"],
  reason: string,
  message = "",
): ConditionState {
  return { type, status, reason, message };
}

/**
 * The conditions in the order of `states`; those of other types are dropped.
 * @param now milliseconds since the Unix epoch
 */
export function updateConditions(
  previous: DeepReadonly<Condition[]>,
  states: readonly ConditionState[],
  generation: number,
  now: number,
): Condition[] {
  return states.flatMap((state) => {
    const before = previous.filter(({ type }) => type === state.type);
    return setCondition(before, { ...state, observedGeneration: generation }, now).conditions;
  });
}
