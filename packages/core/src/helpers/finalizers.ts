/**
 * Cleanup before an object disappears.
 *
 * Flow: the finalizer is added before the first external side effect, and the run ends; the change event continues it.
 * When the object is being deleted, the cleanup runs; only after it has succeeded is the finalizer removed. Both
 * patches test what they change, so that finalizers of others are never touched (CORE-305 to 308).
 */
import { isConflict, isInvalid, isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";
import { keyOf } from "../object.ts";
import type { EventRecorder } from "../observe/types.ts";

/** Annotation on an object being deleted: skips the cleanup of the finalizer that it names (CORE-308). */
export const FORCE_REMOVE_ANNOTATION = "quartet.io/force-remove-finalizer";

/** What the caller does next. */
export type FinalizerStep =
  /** The finalizer is there: go on. */
  | "present"
  /** It was just added, or could not be removed yet: end this run, an event continues it. */
  | "wait"
  /** The object is being deleted and nothing is left to do for us. */
  | "done";

export interface FinalizerOptions<T extends KubeObject> {
  kind: Kind<T>;
  /** `domain/name`. */
  name: string;
  /** Undoes the external side effects; safe to run again. */
  cleanup: (object: DeepReadonly<T>) => Promise<void>;
}

export interface FinalizerContext {
  client: Client;
  events: EventRecorder;
}

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** A finalizer bound to its cleanup; call the result at the start of each reconcile. */
export function finalizer<T extends KubeObject>(
  options: FinalizerOptions<T>,
): (object: DeepReadonly<T>, ctx: FinalizerContext) => Promise<FinalizerStep> {
  const { kind, name } = options;
  if (!NAME.test(name)) throw new TypeError(`finalizer ${JSON.stringify(name)} must be domain/name`);

  const remove = async (object: DeepReadonly<T>, client: Client): Promise<FinalizerStep> => {
    const index = object.metadata.finalizers!.indexOf(name);
    const path = `/metadata/finalizers/${index}`;
    const operations = [
      { op: "test" as const, path, value: name },
      { op: "remove" as const, path },
    ];
    try {
      await client.patch(kind, keyOf(object), { type: "json", operations });
      return "done";
    } catch (error) {
      if (isNotFound(error)) return "done";
      // The list changed meanwhile: its change event leads here again.
      if (isInvalid(error) || isConflict(error)) return "wait";
      throw error;
    }
  };

  const finish = async (object: DeepReadonly<T>, ctx: FinalizerContext): Promise<FinalizerStep> => {
    if (object.metadata.annotations?.[FORCE_REMOVE_ANNOTATION] === name) {
      const note = `The cleanup of finalizer ${name} was skipped as the annotation ${FORCE_REMOVE_ANNOTATION} asks.`;
      ctx.events.record(object, { type: "Warning", reason: "CleanupSkipped", note });
      return remove(object, ctx.client);
    }
    try {
      await options.cleanup(object);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      ctx.events.record(object, {
        type: "Warning",
        reason: "CleanupFailed",
        note: `Cleanup before deletion failed and is tried again: ${message}`,
      });
      throw error;
    }
    return remove(object, ctx.client);
  };

  const add = async (object: DeepReadonly<T>, client: Client): Promise<FinalizerStep> => {
    const { finalizers } = object.metadata;
    const path = "/metadata/finalizers";
    const operations = [
      { op: "test" as const, path, value: finalizers ?? null },
      { op: "add" as const, path, value: [...(finalizers ?? []), name] },
    ];
    try {
      await client.patch(kind, keyOf(object), { type: "json", operations });
    } catch (error) {
      if (!isInvalid(error) && !isConflict(error) && !isNotFound(error)) throw error;
    }
    return "wait";
  };

  return async (object, ctx) => {
    const present = object.metadata.finalizers?.includes(name) ?? false;
    if (object.metadata.deletionTimestamp !== undefined) return present ? finish(object, ctx) : "done";
    return present ? "present" : add(object, ctx.client);
  };
}
