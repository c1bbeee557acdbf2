/** Lists whose elements are told apart by some of their fields. */
import type { JsonMap } from "./json.ts";

/** What tells the elements of a list apart. */
export type KeyOf = (item: JsonMap) => string;

/** Key made of several fields; absent ones count as empty. */
export function fields(...names: string[]): KeyOf {
  return (item) => JSON.stringify(names.map((name) => item[name] ?? ""));
}

/** What tells tolerations apart: all but the seconds. One without operator means Equal. */
export function tolerationKey(toleration: JsonMap): string {
  return fields("key", "operator", "value", "effect")({ operator: "Equal", ...toleration });
}

/**
 * The base list, each element merged with the override of the same key in place, and the other overrides behind it.
 * Without `merge` an override takes the place of the whole element.
 */
export function mergeByKey(
  base: readonly JsonMap[],
  overrides: readonly JsonMap[],
  keyOf: KeyOf,
  merge: (base: JsonMap, override: JsonMap) => JsonMap = (_, override) => override,
): JsonMap[] {
  const result = [...base];
  const places = new Map<string, number>();
  for (const [place, item] of base.entries()) {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, place);
  }
  for (const override of overrides) {
    const key = keyOf(override);
    const place = places.get(key);
    if (place === undefined) {
      places.set(key, result.length);
      result.push(override);
    } else result[place] = merge(result[place]!, override);
  }
  return result;
}

/** A path without trailing slashes; the root stays. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}
