/** JSON as it travels: nothing is lost between what the server sent and what a caller writes back. */

/** From here on JavaScript prints doubles with an exponent, as the server does for its own floats. */
const EXPONENT_FROM = 1e21;
const SIXTEEN_DIGITS = /\d{16}/;

/** Decodes JSON text. Keys such as `__proto__` become own properties, that is: data. */
export function decodeJson(text: string): unknown {
  return JSON.parse(text) as unknown;
}

/**
 * True when a value holds an integer beyond 2^53-1: such a number was rounded when it was decoded, so writing the
 * whole object back would change it.
 */
export function holdsUnsafeIntegers(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < EXPONENT_FROM;
  }
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value)
    ? value.some(holdsUnsafeIntegers)
    : Object.values(value).some(holdsUnsafeIntegers);
}

/** Encodes an object and tells whether it holds integers beyond 2^53-1; only suspicious texts are searched. */
export function encodeExact(value: unknown): { text: string; unsafe: boolean } {
  const text = JSON.stringify(value);
  return { text, unsafe: SIXTEEN_DIGITS.test(text) && holdsUnsafeIntegers(value) };
}
