/** JSON as it travels: nothing is lost between what the server sent and what a caller writes back. */

import { isTooDeep, NestingError } from "../nesting.ts";

/** From here on JavaScript prints doubles with an exponent, as the server does for its own floats. */
const EXPONENT_FROM = 1e21;
const SIXTEEN_DIGITS = /\d{16}/;

/** Decodes JSON text. Keys such as `__proto__` become own properties, that is: data. */
export function decodeJson(text: string): unknown {
  return JSON.parse(text) as unknown;
}

/** Characters that Go's encoder escapes, and so those that a Go client never sends as they are. */
const GO_ESCAPES = /[<>&\u2028\u2029]/g;

/**
 * JSON text of a value, with the escapes of Go's encoder: what the server stores byte for byte, such as the data of a
 * ControllerRevision, is then what a Go client would have stored (CORE-131). Throws {@link NestingError} where the value is too deep for `JSON.stringify`, which recurses. */
export function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value)?.replace(GO_ESCAPES, escaped);
  } catch (error) {
    throw error instanceof RangeError && isTooDeep(value) ? new NestingError() : error;
  }
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * True when a value holds an integer beyond 2^53-1: such a number was rounded when it was decoded, so writing the
 * whole object back would change it.
 */
export function holdsUnsafeIntegers(value: unknown): boolean {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === "number") {
      if (Number.isInteger(next) && !Number.isSafeInteger(next) && Math.abs(next) < EXPONENT_FROM)
        return true;
    } else if (typeof next === "object" && next !== null) {
      for (const child of Array.isArray(next) ? next : Object.values(next)) pending.push(child);
    }
  }
  return false;
}

/**
 * Encodes an object and tells whether it holds integers beyond 2^53-1; only suspicious texts are searched. Throws
 * {@link NestingError} for an object that cannot be encoded for its depth.
 */
export function encodeExact(value: unknown): { text: string; unsafe: boolean } {
  const text = encodeJson(value);
  return { text, unsafe: SIXTEEN_DIGITS.test(text) && holdsUnsafeIntegers(value) };
}
