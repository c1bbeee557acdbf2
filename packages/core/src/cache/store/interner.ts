/** Makes equal strings of cached objects share memory. */
import { MAX_NESTING, NestingError } from "../../nesting.ts";

/** Longer strings are rarely equal. CORE-180. */
const MAX_LENGTH = 80;
/** Strings known at one time. CORE-180. */
const DEFAULT_CAPACITY = 50_000;
/** Fields of `metadata` that differ in every object: remembering them would cost memory and save none. */
const UNIQUE_FIELDS: ReadonlySet<string> = new Set(["name", "uid", "resourceVersion"]);

export interface Interner {
  /**
   * Replaces the strings in an object, in place, by the first equal ones seen; returns the object. Throws
   * {@link NestingError} for one that is nested too deep to be walked safely, by this or by any later reader.
   */
  intern<T extends object>(object: T): T;
  /** Strings known now. */
  readonly size: number;
}

/**
 * The table has two generations. When the young one is full it becomes the old one, and what nobody asked for since is
 * dropped: names of objects that come and go do not crowd out the strings that all objects share.
 */
export function createInterner(capacity: number = DEFAULT_CAPACITY): Interner {
  const generation = Math.max(1, Math.floor(capacity / 2));
  let young = new Map<string, string>();
  let old = new Map<string, string>();

  const canonical = (text: string): string => {
    const known = young.get(text);
    if (known !== undefined) return known;
    const kept = old.get(text) ?? text;
    if (young.size >= generation) {
      old = young;
      young = new Map();
    }
    young.set(kept, kept);
    return kept;
  };
  const walk = (value: object, depth: number, except?: ReadonlySet<string>): void => {
    if (depth > MAX_NESTING) throw new NestingError();
    if (!Object.isExtensible(value)) return;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const child: unknown = value[index];
        if (typeof child === "string") {
          if (child.length <= MAX_LENGTH) value[index] = canonical(child);
        } else if (typeof child === "object" && child !== null) walk(child, depth + 1);
      }
      return;
    }
    const record = value as Record<string, unknown>;
    for (const key of Object.keys(record)) {
      const child = record[key];
      if (typeof child === "string") {
        if (child.length <= MAX_LENGTH && !except?.has(key)) record[key] = canonical(child);
      } else if (typeof child === "object" && child !== null) {
        walk(child, depth + 1, key === "metadata" ? UNIQUE_FIELDS : undefined);
      }
    }
  };

  return {
    intern(object) {
      walk(object, 1);
      return object;
    },
    get size() {
      return young.size + old.size;
    },
  };
}
