/** Objects that cannot be taken into the cache: each is left out alone, so that it stops nothing but itself. CORE-191. */
import { NestingError } from "../../nesting.ts";
import { type KubeObject, keyOf, type ObjectKey } from "../../object.ts";
import type { Logger } from "../../observe/types.ts";
import type { SetAside, SizeLimits } from "../types.ts";
import { createObjectMap, type ObjectMap, type Store } from "./store.ts";

export type AsideMap = ObjectMap<SetAside>;

/** The object made ready for the cache, or why that cannot be. */
export function takeIn<T extends KubeObject>(
  object: T,
  prepare: (object: T) => T,
): { readonly object: T } | { readonly aside: SetAside } {
  // Read first: preparing changes the object.
  const key = keyOf(object);
  const { uid = "", resourceVersion: version = "" } = object.metadata;
  try {
    return { object: prepare(object) };
  } catch (error) {
    // The words of other errors may quote the object.
    const reason = isOwn(error) ? error.message : `preparing it failed (${nameOf(error)})`;
    return { aside: { key, uid, version, reason } };
  }
}

const isOwn = (error: unknown): error is Error =>
  error instanceof NestingError || error instanceof SizeLimitError;

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** What is always safe to keep of an object: its metadata, whose form the server enforces. */
export function withoutContent<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { managedFields: _, ...kept } = metadata;
  return { apiVersion, kind, metadata: kept } as T;
}

/** Gives `next` the cached version of each object that was set aside, unless another object bears the name by now. */
export function keepEarlier<T extends KubeObject>(
  store: Pick<Store<T>, "objects">,
  next: ObjectMap<T>,
  aside: AsideMap,
): void {
  for (const { key, uid } of aside.values()) {
    const earlier = store.objects.get(key);
    if (earlier !== undefined && (earlier.metadata.uid ?? "") === uid) next.set(key, earlier);
  }
}

/** Tells of an object when it is set aside, not again for each version and each list. */
export function reportAside(log: Logger, entry: SetAside, before: SetAside | undefined): void {
  if (before?.reason === entry.reason) return;
  const { key, version, reason } = entry;
  log.warn("object is set aside, the cache cannot take it in", { ...key, version, reason });
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
