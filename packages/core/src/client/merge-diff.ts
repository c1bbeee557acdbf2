/** The JSON merge patch (RFC 7386) that turns one value into another. */

/**
 * Merge patch from `current` to `next`, or `undefined` when they are equal. Members that are `null` or `undefined`
 * count as absent: a merge patch cannot set them. Lists are replaced as a whole.
 */
export function mergeDiff(current: unknown, next: unknown): unknown {
  if (!isRecord(next)) return sameJson(current, next) ? undefined : next;
  const before = isRecord(current) ? current : {};
  const changes: [string, unknown][] = [];
  for (const [key, value] of Object.entries(next)) {
    if (value === null || value === undefined) continue;
    const present = Object.hasOwn(before, key) && before[key] !== null && before[key] !== undefined;
    const change = mergeDiff(present ? before[key] : undefined, value);
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

/** Equality of JSON values; the order of members does not count, and `undefined` members count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a).filter((key) => a[key] !== undefined);
  const others = Object.keys(b).filter((key) => b[key] !== undefined);
  return (
    keys.length === others.length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
