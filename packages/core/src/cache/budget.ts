/** How much a source may keep in memory. CORE-194. */
import { type KubeObject, keyOf, type ObjectKey } from "../object.ts";
import { createObjectMap } from "./object-map.ts";

/** Bounds of what is cached of a source, in bytes of JSON text, nearly. What exceeds them is set aside. */
export interface SizeLimits {
  readonly objectBytes?: number;
  /** All objects of one namespace, or of all where the source is not by namespace. */
  readonly totalBytes?: number;
}

/** An object is larger than its source may keep. */
export class SizeLimitError extends Error {
  override readonly name = "SizeLimitError";
}

export interface Budget<T extends KubeObject> {
  /** Counts an object in place of its earlier version, and returns it. Throws `SizeLimitError`, and then counts nothing. */
  admit(object: T): T;
  release(key: ObjectKey): void;
}

export function createBudget<T extends KubeObject>(limits: SizeLimits | undefined): Budget<T> {
  if (limits === undefined) return { admit: (object) => object, release: () => {} };
  const { objectBytes = Number.POSITIVE_INFINITY, totalBytes = Number.POSITIVE_INFINITY } = limits;
  const sizes = createObjectMap<number>();
  let total = 0;
  return {
    admit(object) {
      const key = keyOf(object);
      const size = jsonSize(object);
      if (size > objectBytes) throw new SizeLimitError(`larger than ${objectBytes} bytes`);
      const next = total - (sizes.get(key) ?? 0) + size;
      if (next > totalBytes) {
        throw new SizeLimitError(`with it the source would hold more than ${totalBytes} bytes`);
      }
      total = next;
      sizes.set(key, size);
      return object;
    },
    release(key) {
      total -= sizes.get(key) ?? 0;
      sizes.delete(key);
    },
  };
}

/** Characters that quotes, colons and commas add. */
const AROUND = 4;
/** A number, `true`, `null`. */
const SCALAR = 8;

/** Length of the JSON text of a value, nearly. */
function jsonSize(value: unknown): number {
  let size = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === "string") size += next.length + AROUND;
    else if (typeof next !== "object" || next === null) size += SCALAR;
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else {
      for (const [key, child] of Object.entries(next)) {
        size += key.length + AROUND;
        pending.push(child);
      }
    }
  }
  return size;
}
