/** What controllers tell of themselves, for metrics. */
import type { QueueObserver, WorkQueue } from "../queue/queue.ts";
import type { ControllerState } from "./types.ts";

/** Outcome of a run as `controller_runtime_reconcile_total` counts it. */
export type ReconcileResult = "success" | "error" | "requeue_after";

export interface ControllerObserver {
  /** A controller was built: the place to create its series with 0 (CORE-284). */
  onBuild?(controller: string, maxConcurrentReconciles: number, queue: WorkQueue): void;
  onReconcile?(controller: string, result: ReconcileResult, seconds: number): void;
  onTerminalError?(controller: string): void;
  onPanic?(controller: string): void;
  onTimeout?(controller: string): void;
  /** The number of reconciles that may run at once was changed. */
  onMaxConcurrentReconciles?(controller: string, count: number): void;
  /** A map function failed to the end: the event queued nothing (CORE-222). */
  onEventLost?(controller: string): void;
  /** Running reconciles. */
  onActive?(controller: string, active: number): void;
  onState?(controller: string, state: ControllerState): void;
  /** Observer of the controller's queue. */
  queue?(controller: string): QueueObserver;
}
