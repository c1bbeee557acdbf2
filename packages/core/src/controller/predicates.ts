/** Predicates: which cache events queue anything. They never filter the cache itself. */
import { isDeepStrictEqual } from "node:util";
import type { CacheEvent } from "../cache/types.ts";
import type { DeepReadonly, KubeObject } from "../object.ts";
import type { Predicate } from "./types.ts";

type Compare = (old: DeepReadonly<KubeObject>, object: DeepReadonly<KubeObject>) => boolean;

/** Passes creates and deletes, and those updates for which `differs` is true. Resyncs pass as well. */
function onUpdate(differs: Compare): Predicate {
  return (event: CacheEvent) => event.type !== "update" || event.resync || differs(event.old, event.object);
}

/** Any change at all. */
export const resourceVersionChanged: Predicate = onUpdate(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
);

/**
 * Changes of the spec. An update that sets `deletionTimestamp` passes too. Note: without a status subresource the
 * server raises the generation on status writes as well.
 */
export const generationChanged: Predicate = onUpdate(
  (old, object) => old.metadata.generation !== object.metadata.generation || deletionBegan(old, object),
);

export const labelsChanged: Predicate = onUpdate(
  (old, object) => !isDeepStrictEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}),
);

export const annotationsChanged: Predicate = onUpdate(
  (old, object) => !isDeepStrictEqual(old.metadata.annotations ?? {}, object.metadata.annotations ?? {}),
);

/** Any change of the list of finalizers: a controller that added its own goes on with it. */
export const finalizersChanged: Predicate = onUpdate(
  (old, object) => !isDeepStrictEqual(old.metadata.finalizers ?? [], object.metadata.finalizers ?? []),
);

export function and(...predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.every((predicate) => predicate(event));
}

export function or(...predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.some((predicate) => predicate(event));
}

export function not(predicate: Predicate): Predicate {
  return (event) => !predicate(event);
}

/**
 * Default of `for`: spec, labels, annotations, finalizers, or the begin of a deletion. A controller's own status write
 * never triggers it again (CORE-224).
 */
export const primaryChanged: Predicate = or(
  generationChanged,
  labelsChanged,
  annotationsChanged,
  finalizersChanged,
);

function deletionBegan(old: DeepReadonly<KubeObject>, object: DeepReadonly<KubeObject>): boolean {
  return old.metadata.deletionTimestamp === undefined && object.metadata.deletionTimestamp !== undefined;
}
