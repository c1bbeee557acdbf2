/** Lets a reconcile of the owner act in owner mode alone (DSP-107, 108, 111). */
import {
  type DeepReadonly,
  keyOf,
  type Manager,
  type RawSource,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import type { ModeWatch } from "./watch.ts";

/** A write that was not sent, since another controller owns the DaemonSets by now. */
class YieldedError extends Error {
  override readonly name = "YieldedError";
}

/**
 * The reconcile while this process is the owner. Each write looks at the mode before it is sent, a repeated one too: what
 * is under way when the mode changes ends, and nothing follows it. Each DaemonSet is told once.
 */
export function inOwnerMode(mode: ModeWatch, name: string, reconcile: Reconcile): Reconcile {
  const owned = new Set<string>();
  return async (key, ctx) => {
    if (mode.current() !== "owner") {
      const daemonSet = await ctx.cache.get(DAEMON_SET, key);
      if (daemonSet !== undefined && owned.delete(daemonSet.metadata.uid ?? "")) tell(daemonSet, mode, ctx);
      return;
    }
    const daemonSet = await ctx.cache.get(DAEMON_SET, key);
    if (daemonSet !== undefined) owned.add(daemonSet.metadata.uid ?? "");
    try {
      return await reconcile(key, guarded(mode, name, ctx));
    } catch (error) {
      if (mode.current() === "owner") throw error;
      ctx.log.info("Pass ended: another controller owns the DaemonSets", { reason: mode.reason() });
    }
  };
}

function guarded(mode: ModeWatch, name: string, ctx: ReconcileContext): ReconcileContext {
  const beforeWrite = (): void => {
    if (mode.current() !== "owner") throw new YieldedError(`not sent: ${mode.reason()}`);
  };
  return {
    ...ctx,
    client: ctx.client.forController(name, { beforeWrite }),
    events: {
      record(...event) {
        if (mode.current() === "owner") ctx.events.record(...event);
      },
    },
  };
}

function tell(daemonSet: DeepReadonly<DaemonSet>, mode: ModeWatch, ctx: ReconcileContext): void {
  const note = `No longer controlled here: ${mode.reason()}`;
  ctx.events.record(daemonSet as DaemonSet, { type: "Warning", reason: "ControllerYielded", note });
}

/** Queues all DaemonSets when the mode changes. */
export function onModeChange(mode: ModeWatch, manager: Pick<Manager, "cache">): RawSource {
  return {
    name: "daemonset-mode",
    start: (enqueue, signal) =>
      new Promise((resolve) => {
        const undo = mode.onChange(() => {
          for (const informer of manager.cache.informers(DAEMON_SET)) {
            for (const daemonSet of informer.list()) enqueue(keyOf(daemonSet));
          }
        });
        signal.addEventListener("abort", () => resolve(undo()), { once: true });
      }),
  };
}
