/** A reconcile behind a finalizer. */
import { finalizer } from "../helpers/finalizers.ts";
import type { Kind, KubeObject } from "../object.ts";
import type { Cleanup, Reconcile, ReconcileContext } from "./types.ts";

/**
 * Runs `reconcile` for objects that have the finalizer, and for keys without an object. Objects without it get it, and
 * the run ends; objects being deleted are cleaned up.
 */
export function withFinalizer(kind: Kind, name: string, cleanup: Cleanup, reconcile: Reconcile): Reconcile {
  const step = finalizer<KubeObject, ReconcileContext>({ kind, name, cleanup });
  return async (key, ctx) => {
    const object = await ctx.cache.get(kind, key);
    if (object !== undefined && (await step(object, ctx)) !== "present") return;
    return reconcile(key, ctx);
  };
}
