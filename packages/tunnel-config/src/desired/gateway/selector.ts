/** Label selectors of listeners. */
import type { DeepReadonly } from "@quartet/core";
import type { LabelSelector } from "../../gateway-kinds.ts";

type Labels = Readonly<Record<string, string>>;

/** Whether labels fit a selector; an empty one fits all, an operator that is unknown none. */
export function fits(selector: DeepReadonly<LabelSelector> | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  if (Object.entries(matchLabels).some(([key, value]) => labels[key] !== value)) return false;
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    if (operator === "In") return value !== undefined && values.includes(value);
    return operator === "NotIn" && (value === undefined || !values.includes(value));
  });
}
