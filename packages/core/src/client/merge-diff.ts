/** The JSON merge patch (RFC 7386) that turns one value into another. */
import { MAX_NESTING, NestingError } from "../nesting.ts";

/**
 * Merge patch from `current` to `next`, or `undefined` when they are equal. Members that are `null` or `undefined`
 * count as absent: a merge patch cannot set them. Lists are replaced as a whole. Throws {@link NestingError} where `next`
 * has more levels of maps than any object may have.
 */
export function mergeDiff(current: unknown, next: unknown): unknown {
  return mapDiff(current, next, 1);
}

function mapDiff(current: unknown, next: unknown, depth: number): unknown {
  if (!isRecord(next)) return sameJson(current, next) ? undefined : next;
  if (depth > MAX_NESTING) throw new NestingError();
  const before = isRecord(current) ? current : {};
  const changes: [string, unknown][] = [];
  for (const [key, value] of Object.entries(next)) {
    if (value === null || value === undefined) continue;
    const present = Object.hasOwn(before, key) && before[key] !== null && before[key] !== undefined;
    const change = mapDiff(present ? before[key] : undefined, value, depth + 1);
    if (change !== undefined) changes.push([key, change]);
  }
  for (const [key, value] of Object.entries(before)) {
    const wanted = Object.hasOwn(next, key) ? next[key] : undefined;
    if (value !== null && value !== undefined && (wanted === null || wanted === undefined)) {
      changes.push([key, null]);
    }
  }
  if (changes.length === 0) return isRecord(current) ? undefined : {};
  // fromEntries defines own properties, so a key such as `__proto__` stays data.
  return Object.fromEntries(changes);
}

/**
 * Equality of JSON values of any depth; the order of members does not count, and `undefined` members count as absent.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  // Pairs that are still to be compared, in a list instead of on the stack.
  const pairs: unknown[] = [a, b];
  while (pairs.length > 0) {
    const right = pairs.pop();
    const left = pairs.pop();
    if (left === right) continue;
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length) return false;
      for (let index = 0; index < left.length; index++) pairs.push(left[index], right[index]);
      continue;
    }
    if (!isRecord(left) || !isRecord(right)) return false;
    let members = 0;
    for (const key of Object.keys(left)) {
      if (left[key] === undefined) continue;
      if (!Object.hasOwn(right, key) || right[key] === undefined) return false;
      members++;
      pairs.push(left[key], right[key]);
    }
    for (const key of Object.keys(right)) if (right[key] !== undefined) members--;
    if (members !== 0) return false;
  }
  return true;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
