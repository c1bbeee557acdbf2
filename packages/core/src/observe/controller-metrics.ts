/** Metrics of controllers and their queues, under controller-runtime's and client-go's names. */
import type { ControllerObserver, ReconcileResult } from "../controller/observer.ts";
import type { ControllerState } from "../controller/types.ts";
import type { WorkQueue } from "../queue/queue.ts";
import type { Metrics } from "./metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";

/** Seconds; the buckets of controller-runtime. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Values of the label `result`; `requeue` is there for dashboards and stays 0. */
const RESULTS: readonly (ReconcileResult | "requeue")[] = ["success", "error", "requeue_after", "requeue"];

const STATES: readonly ControllerState[] = [
  "Starting",
  "WaitingForCRD",
  "Syncing",
  "Running",
  "Paused",
  "Failed",
  "Stopped",
];

/** Observer that keeps `controller_runtime_*`, `workqueue_*` and `quartet_controller_state`. */
export function controllerMetrics(metrics: Metrics): ControllerObserver {
  const { total, errors, terminal, panics, timeouts, lost, time, concurrency, active, state } =
    families(metrics);
  const queues = queueMetrics(metrics);

  return {
    onBuild(controller: string, maxConcurrentReconciles: number, queue: WorkQueue) {
      for (const result of RESULTS) total.inc({ controller, result }, 0);
      for (const counter of [errors, terminal, panics, timeouts, lost]) counter.inc({ controller }, 0);
      time.zero({ controller });
      concurrency.set({ controller }, maxConcurrentReconciles);
      active.set({ controller }, 0);
      queues.follow(controller, queue);
    },
    onReconcile(controller, result, seconds) {
      total.inc({ controller, result });
      time.observe({ controller }, seconds);
      if (result === "error") errors.inc({ controller });
    },
    onTerminalError: (controller) => terminal.inc({ controller }),
    onPanic: (controller) => panics.inc({ controller }),
    onTimeout: (controller) => timeouts.inc({ controller }),
    onEventLost: (controller) => lost.inc({ controller }),
    onMaxConcurrentReconciles: (controller, count) => concurrency.set({ controller }, count),
    onActive: (controller, count) => active.set({ controller }, count),
    onState(controller, current) {
      for (const one of STATES) state.set({ controller, state: one }, one === current ? 1 : 0);
    },
    queue: queues.observer,
  };
}

function families(metrics: Metrics) {
  const byController = ["controller"] as const;
  return {
    total: metrics.counter("controller_runtime_reconcile_total", "Reconciles by result.", [
      "controller",
      "result",
    ]),
    errors: metrics.counter("controller_runtime_reconcile_errors_total", "Failed reconciles.", byController),
    terminal: metrics.counter(
      "controller_runtime_terminal_reconcile_errors_total",
      "Reconciles that failed for good.",
      byController,
    ),
    panics: metrics.counter(
      "controller_runtime_reconcile_panics_total",
      "Reconciles that failed by a programming error.",
      byController,
    ),
    timeouts: metrics.counter(
      "controller_runtime_reconcile_timeouts_total",
      "Reconciles that ran out of time.",
      byController,
    ),
    lost: metrics.counter(
      "quartet_controller_events_lost_total",
      "Events whose map function kept failing.",
      byController,
    ),
    time: metrics.histogram(
      "controller_runtime_reconcile_time_seconds",
      "Duration of reconciles.",
      byController,
      RECONCILE_BUCKETS,
    ),
    concurrency: metrics.gauge(
      "controller_runtime_max_concurrent_reconciles",
      "Reconciles that may run at once.",
      byController,
    ),
    active: metrics.gauge("controller_runtime_active_workers", "Reconciles that run now.", byController),
    state: metrics.gauge("quartet_controller_state", "1 for the state that a controller is in.", [
      "controller",
      "state",
    ]),
  };
}
