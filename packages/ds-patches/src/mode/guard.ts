/** Lets a reconcile act in its mode alone (DSP-107, 108, 111). */
import {
  type DeepReadonly,
  type Informer,
  keyOf,
  type RawSource,
  type Reconcile,
  type ReconcileContext,
  type Sources,
} from "@quartet/core";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import type { Mode } from "./mode.ts";
import type { ModeWatch } from "./watch.ts";

/** A write that was not sent, since another controller owns the DaemonSets by now. */
class YieldedError extends Error {
  override readonly name = "YieldedError";
}

/** Reconciles by the mode that they are for. */
export interface ModeReconciles {
  readonly owner: Reconcile;
  readonly companion: Reconcile;
}

/**
 * The reconcile of the mode that is in force. Each write looks at the mode before it is sent, a repeated one too: what is
 * under way when the mode changes ends, and nothing follows it. Each DaemonSet is told once that its owner yields.
 */
export function byMode(mode: ModeWatch, name: string, reconciles: ModeReconciles): Reconcile {
  const owned = new Set<string>();
  return async (key, ctx) => {
    const current = mode.current();
    const daemonSet = await ctx.cache.get(DAEMON_SET, key);
    const uid = daemonSet?.metadata.uid ?? "";
    if (current === "owner") owned.add(uid);
    else if (daemonSet !== undefined && owned.delete(uid)) tell(daemonSet, mode, ctx);
    if (current !== "owner" && current !== "companion") return;
    try {
      return await reconciles[current](key, guarded(mode, current, name, ctx));
    } catch (error) {
      if (mode.current() === current) throw error;
      ctx.log.info("Pass ended: the mode of DaemonSets has changed", { reason: mode.reason() });
    }
  };
}

function guarded(mode: ModeWatch, wanted: Mode, name: string, ctx: ReconcileContext): ReconcileContext {
  const beforeWrite = (): void => {
    if (mode.current() !== wanted) throw new YieldedError(`not sent: ${mode.reason()}`);
  };
  return {
    ...ctx,
    client: ctx.client.forController(name, { beforeWrite }),
    events: {
      record(...event) {
        if (mode.current() === wanted) ctx.events.record(...event);
      },
    },
  };
}

function tell(daemonSet: DeepReadonly<DaemonSet>, mode: ModeWatch, ctx: ReconcileContext): void {
  const note = `No longer controlled here: ${mode.reason()}`;
  ctx.events.record(daemonSet as DaemonSet, { type: "Warning", reason: "ControllerYielded", note });
}

/** Queues all DaemonSets when the mode changes. */
export function onModeChange(mode: ModeWatch, sources: Sources): RawSource {
  return {
    name: "daemonset-mode",
    start: (enqueue, signal) =>
      new Promise((resolve) => {
        const daemonSets = sources.open(DAEMON_SET);
        const undo = mode.onChange(() => {
          for (const daemonSet of daemonSets.list()) enqueue(keyOf(daemonSet));
        });
        const end = (): void => {
          undo();
          sources.close(daemonSets as unknown as Informer);
          resolve();
        };
        signal.addEventListener("abort", end, { once: true });
      }),
  };
}
