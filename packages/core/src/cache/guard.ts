/** Protection of shared objects against writes, and the way to get one's own. */

/** Opposite of `DeepReadonly`: the type of a private copy. */
export type DeepMutable<T> = T extends readonly (infer U)[]
  ? DeepMutable<U>[]
  : T extends object
    ? { -readonly [K in keyof T]: DeepMutable<T[K]> }
    : T;

/**
 * A deep copy of a cached object that may be changed. Cached objects themselves are shared by all controllers and must
 * never be written to.
 */
export function mutable<T>(object: T): DeepMutable<T> {
  const copy = copyOf(object);
  if (typeof object === "object" && object !== null) {
    // Marks such as that of a projection stay with the copy.
    for (const mark of Object.getOwnPropertySymbols(object)) {
      (copy as Record<symbol, unknown>)[mark] = (object as Record<symbol, unknown>)[mark];
    }
  }
  return copy as DeepMutable<T>;
}

/** Freezes a JSON value through and through: a later write throws a TypeError. Returns the value. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    if (key === "__proto__") defineData(copy, key, copyOf(child));
    else copy[key] = copyOf(child);
  }
  return copy;
}

/** Sets a key that plain assignment would treat as the prototype. */
function defineData(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}
