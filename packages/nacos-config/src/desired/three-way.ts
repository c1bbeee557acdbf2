/**
 * Carries a change onto a live pod template: the difference between the template as it was generated last and as it is
 * generated now. Whatever else the live one holds stays as it is.
 */
import { sameJson } from "./compare.ts";
import type { JsonMap } from "./k8s.ts";
import type { Shape } from "./template-shape.ts";
import { isMap, itemsOf } from "./wrapper/keyed.ts";

const NO_SHAPE: Shape = {};

/** `live` with the changes from `last` to `next`. Nothing of the inputs is altered. */
export function threeWayMerge(last: JsonMap, next: JsonMap, live: JsonMap, shape: Shape): JsonMap {
  const result: JsonMap = { ...live };
  for (const member of new Set([...Object.keys(last), ...Object.keys(next)])) {
    if (sameJson(last[member], next[member])) continue;
    const merged = mergeValue(last[member], next[member], live[member], shape.members?.[member] ?? NO_SHAPE);
    if (merged === undefined) delete result[member];
    else result[member] = merged;
  }
  return result;
}

function mergeValue(last: unknown, next: unknown, live: unknown, shape: Shape): unknown {
  if (next === undefined || next === null) {
    // Gone from the input: what was generated goes, what others added to a map or keyed list stays.
    if (isMap(last) && isMap(live)) return emptyAsAbsent(threeWayMerge(last, {}, live, shape));
    if (shape.key !== undefined && Array.isArray(live))
      return emptyAsAbsent(mergeKeyed(last, [], live, shape));
    return undefined;
  }
  if (isMap(next) && isMap(live)) return threeWayMerge(isMap(last) ? last : {}, next, live, shape);
  if (shape.key !== undefined && Array.isArray(next) && Array.isArray(live)) {
    return mergeKeyed(last, next, live, shape);
  }
  return next;
}

function mergeKeyed(last: unknown, next: unknown, live: readonly unknown[], shape: Shape): JsonMap[] {
  const key = shape.key!;
  const before = new Map(itemsOf(last).map((item) => [key(item), item]));
  const after = new Map(itemsOf(next).map((item) => [key(item), item]));
  const present = itemsOf(live);
  const kept = present
    .filter((item) => after.has(key(item)) || !before.has(key(item)))
    .map((item) => {
      const wanted = after.get(key(item));
      const was = before.get(key(item));
      if (wanted === undefined || sameJson(was, wanted)) return item;
      return threeWayMerge(was ?? {}, wanted, item, shape.items ?? NO_SHAPE);
    });
  const keys = new Set(present.map(key));
  // An element that did not change but is missing from the live list was left out on purpose by its author.
  const added = [...after].filter(([k, item]) => !keys.has(k) && !sameJson(before.get(k), item));
  return [...kept, ...added.map(([, item]) => item)];
}

function emptyAsAbsent<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}
