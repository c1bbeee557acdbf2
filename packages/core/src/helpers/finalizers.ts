/**
 * Cleanup before an object disappears.
 *
 * Flow: the finalizer is added before the first external side effect, and the run ends; the change event continues it.
 * When the object is being deleted, the cleanup runs; only after it has succeeded is the finalizer removed. Both
 * patches test what they change, so that finalizers of others are never touched (CORE-305 to 308).
 */
import { isConflict, isInvalid, isNotFound } from "../client/errors.ts";
import { sameJson } from "../client/merge-diff.ts";
import type { Client, JsonPatchOperation } from "../client/types.ts";
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";
import { keyOf } from "../object.ts";
import type { EventRecorder } from "../observe/types.ts";

/** Annotation on an object being deleted: skips the cleanup of the finalizer that it names (CORE-308). */
export const FORCE_REMOVE_ANNOTATION = "quartet.io/force-remove-finalizer";

/** What the caller does next. */
export type FinalizerStep =
  /** The finalizer is there: go on. */
  | "present"
  /** The finalizer was just added, or the list of finalizers changed meanwhile: end this run, an event continues it. */
  | "wait"
  /** The object is being deleted, and nothing is left to do for us. */
  | "done";

/** What a finalizer needs of the reconcile's context. */
export interface FinalizerContext {
  readonly client: Client;
  readonly events: EventRecorder;
  /** Plans only: no cleanup runs, and the reconcile goes on without the finalizer. */
  readonly dryRun?: boolean;
}

export interface FinalizerOptions<T extends KubeObject, C extends FinalizerContext = FinalizerContext> {
  kind: Kind<T>;
  /** `domain/name`. */
  name: string;
  /** Undoes the external side effects; safe to run again. */
  cleanup: (object: DeepReadonly<T>, ctx: C) => Promise<void>;
}

/** Domain and name as the API server takes them for finalizers: a DNS name and a qualified name. */
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** A finalizer bound to its cleanup; call the result at the start of each reconcile. */
export function finalizer<T extends KubeObject, C extends FinalizerContext = FinalizerContext>(
  options: FinalizerOptions<T, C>,
): (object: DeepReadonly<T>, ctx: C) => Promise<FinalizerStep> {
  const { kind, name } = options;
  if (!NAME.test(name)) throw new TypeError(`finalizer ${JSON.stringify(name)} must be domain/name`);

  return async (object, ctx) => {
    const finalizers = object.metadata.finalizers ?? [];
    const present = finalizers.includes(name);
    if (object.metadata.deletionTimestamp === undefined) {
      const then = ctx.dryRun === true ? "present" : "wait";
      return present ? "present" : change(ctx.client, kind, object, addition(object, name), then);
    }
    if (!present) return "done";
    if (ctx.dryRun !== true) await cleanUp(options, object, ctx);
    return change(ctx.client, kind, object, removal(finalizers.indexOf(name), name), "done");
  };
}

/** Runs the cleanup, or tells that it is skipped. Throws what the cleanup throws. */
async function cleanUp<T extends KubeObject, C extends FinalizerContext>(
  { name, cleanup }: FinalizerOptions<T, C>,
  object: DeepReadonly<T>,
  ctx: C,
): Promise<void> {
  if (object.metadata.annotations?.[FORCE_REMOVE_ANNOTATION] === name) {
    const note = `The cleanup of finalizer ${name} was skipped as the annotation ${FORCE_REMOVE_ANNOTATION} asks.`;
    ctx.events.record(object, { type: "Warning", reason: "CleanupSkipped", note });
    return;
  }
  try {
    await cleanup(object, ctx);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    ctx.events.record(object, {
      type: "Warning",
      reason: "CleanupFailed",
      note: `Cleanup before deletion failed and is tried again: ${message}`,
    });
    throw error;
  }
}

function addition(object: DeepReadonly<KubeObject>, name: string): JsonPatchOperation[] {
  const { finalizers } = object.metadata;
  const path = "/metadata/finalizers";
  return [
    { op: "test", path, value: finalizers ?? null },
    { op: "add", path, value: [...(finalizers ?? []), name] },
  ];
}

function removal(index: number, name: string): JsonPatchOperation[] {
  const path = `/metadata/finalizers/${index}`;
  return [
    { op: "test", path, value: name },
    { op: "remove", path },
  ];
}

/**
 * Sends a patch of the finalizers. An object that is gone needs none any more; one that has changed is waited for. A
 * patch that the server refuses although nothing has changed is an error.
 */
async function change<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  object: DeepReadonly<T>,
  operations: JsonPatchOperation[],
  then: FinalizerStep,
): Promise<FinalizerStep> {
  const key = keyOf(object);
  try {
    await client.patch(kind, key, { type: "json", operations });
    return then;
  } catch (error) {
    if (isNotFound(error)) return "done";
    if (!isInvalid(error) && !isConflict(error)) throw error;
    const live = await client.get(kind, key).catch((failure) => {
      if (isNotFound(failure)) return undefined;
      throw failure;
    });
    if (live === undefined) return "done";
    if (!isSameFor(live, object)) return "wait";
    throw error;
  }
}

/** Same finalizers, and the same stage of life. */
function isSameFor(live: KubeObject, seen: DeepReadonly<KubeObject>): boolean {
  const [now, before] = [live.metadata, seen.metadata];
  return (
    now.deletionTimestamp === before.deletionTimestamp &&
    sameJson(now.finalizers ?? [], before.finalizers ?? [])
  );
}
