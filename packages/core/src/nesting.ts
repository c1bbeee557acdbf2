/** How deep the objects of others may be nested, so that no walk over them can exhaust the stack. */

/**
 * Levels of maps and lists in one object. The deepest objects in use, definitions of custom resources that hold pod
 * templates, have about 60; JSON can have as many as a text has brackets, and `JSON.stringify` and `structuredClone`
 * fail from 2 000 on. CORE-191.
 */
export const MAX_NESTING = 200;

/** A value is nested deeper than {@link MAX_NESTING}; nothing in it was changed. */
export class NestingError extends Error {
  override readonly name = "NestingError";

  constructor() {
    super(`nested deeper than ${MAX_NESTING} levels`);
  }
}

/** True for a JSON value of more than {@link MAX_NESTING} levels. Walks level by level, so depth costs no stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      if (depth === MAX_NESTING) return true;
      for (const child of Array.isArray(item) ? item : Object.values(item)) below.push(child);
    }
    level = below;
  }
  return false;
}
