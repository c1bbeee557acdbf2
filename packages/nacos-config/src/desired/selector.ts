/** Label selectors. */
import type { DeepReadonly } from "@quartet/core";
import type { LabelSelector } from "@quartet/core/kinds";

/** A selector in the text form of the API's `labelSelector` parameter. */
export function selectorText(selector: DeepReadonly<LabelSelector> | undefined): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`;
  });
  return [...labels, ...expressions].join(",");
}
