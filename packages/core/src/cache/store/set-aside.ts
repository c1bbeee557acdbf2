/** Objects that cannot be taken into the cache: each is left out alone, so that it stops nothing but itself. CORE-191. */
import { NestingError } from "../../nesting.ts";
import { type KubeObject, keyOf } from "../../object.ts";
import type { Logger } from "../../observe/types.ts";
import type { SetAside } from "../types.ts";
import { SizeLimitError } from "./budget.ts";
import type { ObjectMap, Store } from "./store.ts";

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
