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
  // A list instead of recursion: nobody says how deep an object is nested.
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const child of Object.values(next)) if (typeof child === "object") pending.push(child);
  }
  return value;
}

/** A copy of a JSON value that shares nothing with it. */
function copyOf(value: unknown): unknown {
  const pending: [source: object, copy: object][] = [];
  const begin = (source: unknown): unknown => {
    if (typeof source !== "object" || source === null) return source;
    const copy = Array.isArray(source) ? new Array<unknown>(source.length) : {};
    pending.push([source, copy]);
    return copy;
  };
  const root = begin(value);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [source, copy] = next;
    for (const [key, child] of Object.entries(source)) {
      if (key === "__proto__") defineData(copy, key, begin(child));
      else (copy as Record<string, unknown>)[key] = begin(child);
    }
  }
  return root;
}

/** Sets a key that plain assignment would treat as the prototype. */
function defineData(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}
