/** JSON values of unknown form. */

/** Any JSON object. */
export type JsonMap = Record<string, unknown>;

/** True for a JSON object. */
export function isMap(value: unknown): value is JsonMap {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** `value` when it is a JSON object, else an empty one. */
export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {};
}

/** The elements of a list that are JSON objects; none when it is no list. */
export function itemsOf(value: unknown): JsonMap[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}

/** Equality of JSON values of any depth; the order of members does not count. */
export function equalJson(a: unknown, b: unknown): boolean {
  const pairs: [unknown, unknown][] = [[a, b]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair;
    if (left === right) continue;
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length) return false;
      for (const [index, item] of left.entries()) pairs.push([item, right[index]]);
    } else if (isMap(left) && isMap(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
        pairs.push([left[key], right[key]]);
      }
    } else return false;
  }
  return true;
}
