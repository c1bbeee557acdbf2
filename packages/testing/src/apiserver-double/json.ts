/** Plain JSON values and the few operations on them that every part of the double needs. */

export interface JsonObject {
  [key: string]: unknown;
}

/** An integer that a JavaScript number cannot hold, kept as it was written. */
export interface RawInteger {
  readonly rawJSON: string;
}

/** Part of ECMAScript that the type library does not know yet. */
const exact = JSON as unknown as {
  isRawJSON(value: unknown): value is RawInteger;
  rawJSON(text: string): RawInteger;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
};

export function isRawInteger(value: unknown): value is RawInteger {
  return exact.isRawJSON(value);
}

/** Numbers of so many digits may be beyond 2^53. */
const LONG_NUMBER = /\d{16}/;
const INTEGER = /^-?\d+$/;
/** Beyond 64 bits the server, too, has only floating point. */
const INT64 = 2 ** 63;

/** `JSON.parse` that loses nothing: integers of up to 64 bits stay what they are. */
export function parseJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source = "" }) => {
    const long = typeof value === "number" && !Number.isSafeInteger(value) && Math.abs(value) <= INT64;
    return long && INTEGER.test(source) ? exact.rawJSON(source) : value;
  });
}

export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawInteger(value);
}

/** The value when it is a JSON object, else an empty one (not attached to anything). */
export function record(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}

/** The value when it is a list, else an empty one (not attached to anything). */
export function items(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The JSON objects of a list. */
export function records(value: unknown): JsonObject[] {
  return items(value).filter(isRecord);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value below a path of keys, `undefined` when there is none. */
export function at(value: unknown, ...path: string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** Assigns a key as data, `__proto__` included. */
export function setKey(target: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** Sets a value below a path, making the objects in between. */
export function setAt(target: JsonObject, path: readonly string[], value: unknown): void {
  let current = target;
  for (const key of path.slice(0, -1)) {
    if (!isRecord(at(current, key))) setKey(current, key, {});
    current = current[key] as JsonObject;
  }
  setKey(current, path.at(-1)!, value);
}

/** Gives a key a value when it has none yet. */
export function defaultKey(target: JsonObject, key: string, value: unknown): void {
  if (target[key] === undefined || target[key] === null) target[key] = value;
}

/** The JSON object below a key, made when it is missing. */
export function childOf(target: JsonObject, key: string): JsonObject {
  if (!isRecord(target[key])) target[key] = {};
  return target[key] as JsonObject;
}

export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isRecord(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setKey(copy, key, cloneJson(value[key]));
  return copy as T;
}

/** Equality of JSON values; the order of keys does not count. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((value, index) => sameJson(value, right[index]));
  }
  if (isRawInteger(left)) return isRawInteger(right) && left.rawJSON === right.rawJSON;
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}
