/** Metrics of work queues, under client-go's names with controller-runtime's labels. */
import type { QueueObserver, WorkQueue } from "../queue/queue.ts";
import type { Metrics } from "./metrics.ts";

/** Seconds; ten to the power of -8 … 3 (controller-runtime, workqueue metrics). */
const DURATION_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1_000];
/** Priorities that get a series of their own; same source. */
const MAX_PRIORITIES = 25;
/** Label of all further priorities; same source. */
const OTHER_PRIORITIES = "exceeded_cardinality_limit";

export interface QueueMetrics {
  observer(controller: string): QueueObserver;
  /** Shows the queue's running items whenever metrics are collected. */
  follow(controller: string, queue: WorkQueue): void;
}

/** Keeps `workqueue_*`; queues are named after their controllers. */
export function queueMetrics(metrics: Metrics): QueueMetrics {
  const labelNames = ["name", "controller"] as const;
  const depth = metrics.gauge("workqueue_depth", "Ready items.", [...labelNames, "priority"]);
  const adds = metrics.counter("workqueue_adds_total", "Items that became ready.", labelNames);
  const retries = metrics.counter("workqueue_retries_total", "Delayed adds.", labelNames);
  const waited = metrics.histogram(
    "workqueue_queue_duration_seconds",
    "Time that items were ready before they were worked on.",
    labelNames,
    DURATION_BUCKETS,
  );
  const worked = metrics.histogram(
    "workqueue_work_duration_seconds",
    "Time that items were worked on.",
    labelNames,
    DURATION_BUCKETS,
  );
  const unfinished = metrics.gauge(
    "workqueue_unfinished_work_seconds",
    "Time that all running items have been worked on.",
    labelNames,
  );
  const longest = metrics.gauge(
    "workqueue_longest_running_processor_seconds",
    "Time that the oldest running item has been worked on.",
    labelNames,
  );
  const labelsOf = (controller: string): { name: string; controller: string } => ({
    name: controller,
    controller,
  });

  return {
    observer(controller) {
      const labels = labelsOf(controller);
      const depths = depthByPriority((priority, count) => depth.set({ ...labels, priority }, count));
      return {
        onAdd: () => adds.inc(labels),
        onRetry: () => retries.inc(labels),
        onDepth: depths,
        onGet: (seconds) => waited.observe(labels, seconds),
        onDone: (seconds) => worked.observe(labels, seconds),
      };
    },
    follow(controller, queue) {
      const labels = labelsOf(controller);
      depth.set({ ...labels, priority: "0" }, 0);
      for (const counter of [adds, retries]) counter.inc(labels, 0);
      for (const histogram of [waited, worked]) histogram.zero(labels);
      metrics.onCollect(() => {
        const running = queue.runningFor();
        unfinished.set(labels, running.reduce((sum, ms) => sum + ms, 0) / 1_000);
        longest.set(labels, Math.max(0, ...running) / 1_000);
      });
    },
  };
}

/** Sets the depth of a priority; priorities beyond the limit share one label and are summed. */
function depthByPriority(
  set: (priority: string, depth: number) => void,
): (priority: number, depth: number) => void {
  const own = new Set<number>();
  const others = new Map<number, number>();
  return (priority, count) => {
    if (own.has(priority) || own.size < MAX_PRIORITIES) {
      own.add(priority);
      set(String(priority), count);
      return;
    }
    if (count === 0) others.delete(priority);
    else others.set(priority, count);
    set(
      OTHER_PRIORITIES,
      [...others.values()].reduce((sum, one) => sum + one, 0),
    );
  };
}
