/** Several conditions of one status. */
import { type Condition, setCondition } from "@quartet/core";

/** A condition as it shall be. */
export interface Wanted {
  readonly type: string;
  readonly on: boolean;
  readonly reason: string;
  readonly message?: string;
}

/** The conditions with the wanted ones in them; times move only where a status does. */
export function withConditions(
  before: unknown,
  wanted: readonly Wanted[],
  observedGeneration: number,
  now: number,
): Condition[] {
  let conditions = before as Condition[] | undefined;
  for (const { type, on, reason, message = "" } of wanted) {
    const status = on ? ("True" as const) : ("False" as const);
    ({ conditions } = setCondition(conditions, { type, status, reason, message, observedGeneration }, now));
  }
  return conditions ?? [];
}
