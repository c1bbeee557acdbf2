/** Lists whose elements are told apart by some of their fields. */
import type { JsonMap } from "../k8s.ts";

/** The list elements of `value`; none when it is no list. */
export function itemsOf(value: unknown): JsonMap[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}

/** True for a JSON object. */
export function isMap(value: unknown): value is JsonMap {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** `value` when it is a JSON object, else an empty one. */
export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {};
}

/**
 * The base list, each element merged with the override of the same key in place, and the other overrides behind it.
 * Without `merge` an override takes the place of the whole element.
 */
export function mergeByKey(
  base: readonly JsonMap[],
  overrides: readonly JsonMap[],
  keyOf: (item: JsonMap) => string,
  merge: (base: JsonMap, override: JsonMap) => JsonMap = (_, override) => override,
): JsonMap[] {
  const result = [...base];
  for (const override of overrides) {
    const at = result.findIndex((item) => keyOf(item) === keyOf(override));
    if (at < 0) result.push(override);
    else result[at] = merge(result[at]!, override);
  }
  return result;
}

/** Key made of several fields; absent ones count as empty. */
export function fields(...names: string[]): (item: JsonMap) => string {
  return (item) => JSON.stringify(names.map((name) => item[name] ?? ""));
}

/** What tells tolerations apart: all but the seconds. One without operator means Equal. */
export function tolerationKey(toleration: JsonMap): string {
  return fields("key", "operator", "value", "effect")({ operator: "Equal", ...toleration });
}
