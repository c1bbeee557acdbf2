import { describe, expect, it } from "vitest";
import { createQueue } from "../queue/queue.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { controllerMetrics } from "./controller-metrics.ts";
import { createMetrics } from "./metrics.ts";

function start(): {
  metrics: ReturnType<typeof createMetrics>;
  observer: ReturnType<typeof controllerMetrics>;
  clock: ReturnType<typeof fakeClock>;
  queue: ReturnType<typeof createQueue>;
} {
  const metrics = createMetrics({ processMetrics: false });
  const observer = controllerMetrics(metrics);
  const clock = fakeClock();
  const queue = createQueue({ name: "tars", clock, observer: observer.queue!("tars") });
  observer.onBuild!("tars", 4, queue);
  return { metrics, observer, clock, queue };
}

describe("metrics of controllers", () => {
  it("CORE-284 has every series of a controller with 0 right after it was built", async () => {
    const { metrics } = start();
    const text = await metrics.render();
    for (const series of [
      'controller_runtime_reconcile_total{controller="tars",result="success"} 0',
      'controller_runtime_reconcile_total{controller="tars",result="error"} 0',
      'controller_runtime_reconcile_total{controller="tars",result="requeue_after"} 0',
      'controller_runtime_reconcile_total{controller="tars",result="requeue"} 0',
      'controller_runtime_reconcile_errors_total{controller="tars"} 0',
      'controller_runtime_terminal_reconcile_errors_total{controller="tars"} 0',
      'controller_runtime_reconcile_panics_total{controller="tars"} 0',
      'controller_runtime_reconcile_timeouts_total{controller="tars"} 0',
      'controller_runtime_reconcile_time_seconds_count{controller="tars"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="tars"} 4',
      'quartet_controller_events_lost_total{controller="tars"} 0',
      'controller_runtime_active_workers{controller="tars"} 0',
      'workqueue_depth{name="tars",controller="tars",priority="0"} 0',
      'workqueue_adds_total{name="tars",controller="tars"} 0',
      'workqueue_retries_total{name="tars",controller="tars"} 0',
      'workqueue_queue_duration_seconds_count{name="tars",controller="tars"} 0',
      'workqueue_work_duration_seconds_count{name="tars",controller="tars"} 0',
      'workqueue_unfinished_work_seconds{name="tars",controller="tars"} 0',
      'workqueue_longest_running_processor_seconds{name="tars",controller="tars"} 0',
    ]) {
      expect(text).toContain(`${series}\n`);
    }
  });

  it("CORE-284 has the buckets of controller-runtime", async () => {
    const text = await start().metrics.render();
    const bounds = (name: string): string[] =>
      [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"`, "gm"))].map((match) => match[1]!);
    expect(bounds("controller_runtime_reconcile_time_seconds")).toEqual(
      ".005 .01 .025 .05 .1 .15 .2 .25 .3 .35 .4 .45 .5 .6 .7 .8 .9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 +Inf"
        .split(" ")
        .map((bound) => bound.replace(/^\./, "0.")),
    );
    const queueBounds = bounds("workqueue_queue_duration_seconds");
    expect(queueBounds).toHaveLength(13);
    expect(queueBounds.slice(0, 12).map(Number)).toEqual([
      1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000,
    ]);
  });

  it("CORE-284 counts results, terminal errors, panics, timeouts and running reconciles", async () => {
    const { metrics, observer } = start();
    observer.onReconcile!("tars", "success", 0.2);
    observer.onReconcile!("tars", "requeue_after", 0.2);
    observer.onReconcile!("tars", "error", 0.2);
    observer.onTerminalError!("tars");
    observer.onPanic!("tars");
    observer.onTimeout!("tars");
    observer.onActive!("tars", 3);
    const text = await metrics.render();
    expect(text).toContain('controller_runtime_reconcile_total{controller="tars",result="error"} 1');
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="tars"} 1');
    expect(text).toContain('controller_runtime_terminal_reconcile_errors_total{controller="tars"} 1');
    expect(text).toContain('controller_runtime_reconcile_panics_total{controller="tars"} 1');
    expect(text).toContain('controller_runtime_reconcile_timeouts_total{controller="tars"} 1');
    expect(text).toContain('controller_runtime_active_workers{controller="tars"} 3');
    expect(text).toContain('controller_runtime_reconcile_time_seconds_count{controller="tars"} 3');
  });

  it("shows the current state of a controller as 1 and every other as 0", async () => {
    const { metrics, observer } = start();
    observer.onState!("tars", "Syncing");
    observer.onState!("tars", "Running");
    const text = await metrics.render();
    expect(text).toContain('quartet_controller_state{controller="tars",state="Running"} 1');
    expect(text).toContain('quartet_controller_state{controller="tars",state="Syncing"} 0');
  });
});

describe("metrics of queues", () => {
  it("CORE-284 follow the queue: depth by priority, adds, retries, waiting and working times", async () => {
    const { metrics, clock, queue } = start();
    queue.add("a");
    queue.add("b", { priority: -100 });
    queue.addAfter("c", 60_000);
    await clock.advance(2_000);
    const item = await queue.get();
    expect(item?.key).toBe("a");
    await clock.advance(3_000);
    let text = await metrics.render();
    const labels = 'name="tars",controller="tars"';
    expect(text).toContain(`workqueue_depth{${labels},priority="0"} 0`);
    expect(text).toContain(`workqueue_depth{${labels},priority="-100"} 1`);
    expect(text).toContain(`workqueue_adds_total{${labels}} 2`);
    expect(text).toContain(`workqueue_retries_total{${labels}} 1`);
    expect(text).toContain(`workqueue_queue_duration_seconds_sum{${labels}} 2`);
    expect(text).toContain(`workqueue_unfinished_work_seconds{${labels}} 3`);
    expect(text).toContain(`workqueue_longest_running_processor_seconds{${labels}} 3`);
    queue.done("a");
    text = await metrics.render();
    expect(text).toContain(`workqueue_work_duration_seconds_sum{${labels}} 3`);
    expect(text).toContain(`workqueue_unfinished_work_seconds{${labels}} 0`);
  });

  it("CORE-284 shows more than 25 priorities under one label", async () => {
    const { metrics, queue } = start();
    for (let priority = 1; priority <= 30; priority++) queue.add(`k${priority}`, { priority });
    const text = await metrics.render();
    const series = text.split("\n").filter((line) => line.startsWith("workqueue_depth{"));
    const shared = series.find((line) => line.includes("exceeded_cardinality_limit"));
    expect(shared).toMatch(/ 5$/);
    expect(series.filter((line) => line.endsWith(" 1"))).toHaveLength(25);
  });
});
