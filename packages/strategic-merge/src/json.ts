/** JSON values and the few operations on them that the engine needs. Keys are data: `__proto__` is one like any other. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface JsonMap {
  [key: string]: Json;
}

/** What two values must have in common to be merged, and the items of a list to live together. */
export type JsonType = "null" | "boolean" | "integer" | "float" | "string" | "list" | "map";

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Type of a value. Whole numbers and fractions differ, as in the decoder of the API server. */
export function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return "map";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "float";
  return typeof value === "boolean" ? "boolean" : "string";
}

/** The value of a key that the map itself holds. */
export function own(map: JsonMap, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Assigns a key as data. */
export function setKey(map: JsonMap, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    map[key] = value;
  }
}

/** Keys and values of a map; what is `undefined` in TypeScript is absent in JSON. */
export function entriesOf(map: JsonMap): [key: string, value: Json][] {
  return Object.entries(map).filter(([, value]) => value !== undefined);
}

/** A map with the same keys. */
export function shallowCopy(map: JsonMap): JsonMap {
  const copy: JsonMap = {};
  for (const [key, value] of entriesOf(map)) setKey(copy, key, value);
  return copy;
}

/** A value that shares nothing with the given one. */
export function deepCopy(value: Json): Json {
  if (Array.isArray(value)) return value.map(deepCopy);
  if (!isMap(value)) return value;
  const copy: JsonMap = {};
  for (const [key, member] of entriesOf(value)) setKey(copy, key, deepCopy(member));
  return copy;
}

/** Equality of JSON values; the order of keys does not count. */
export function equal(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => equal(item, right[index]!));
  }
  if (!isMap(left) || !isMap(right)) return false;
  const entries = entriesOf(left);
  if (entries.length !== entriesOf(right).length) return false;
  return entries.every(([key, value]) => {
    const other = own(right, key);
    return other !== undefined && equal(value, other);
  });
}
