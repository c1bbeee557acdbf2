import { describe, expect, it } from "vitest";
import { clientMetrics } from "./client-metrics.ts";
import { leaderMetrics } from "./leader-metrics.ts";
import { createMetrics, type Metrics } from "./metrics.ts";

const start = (): Metrics => createMetrics({ processMetrics: false });

/** Upper bounds of a histogram's buckets, without +Inf. */
function bucketsOf(text: string, name: string): number[] {
  const bounds = [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"`, "gm"))].map(
    (match) => match[1],
  );
  return bounds.filter((bound) => bound !== "+Inf").map(Number);
}

describe("registry", () => {
  it("shares a family of the same shape and refuses another shape", async () => {
    const metrics = start();
    metrics.counter("x_total", "X.", ["a"]).inc({ a: "1" });
    metrics.counter("x_total", "X.", ["a"]).inc({ a: "1" });
    expect(await metrics.render()).toContain('x_total{a="1"} 2');
    expect(() => metrics.gauge("x_total", "X.", ["a"])).toThrow(
      "metric x_total exists as counter {a}, not as gauge",
    );
    expect(() => metrics.counter("x_total", "X.", ["b"])).toThrow("not as counter {b}");
  });

  it("runs collectors before every rendering until they are removed", async () => {
    const metrics = start();
    const gauge = metrics.gauge("depth", "Depth.");
    let depth = 1;
    const remove = metrics.onCollect(() => gauge.set(depth));
    expect(await metrics.render()).toContain("depth 1\n");
    depth = 2;
    expect(await metrics.render()).toContain("depth 2\n");
    remove();
    depth = 3;
    expect(await metrics.render()).toContain("depth 2\n");
  });

  it("holds metrics of the process and of Node unless told not to", async () => {
    expect(await createMetrics().render()).toMatch(
      /^process_resident_memory_bytes [\s\S]*^nodejs_eventloop_lag_seconds /m,
    );
    expect(await start().render()).not.toContain("process_");
  });
});

describe("metrics of requests", () => {
  it("CORE-284 counts requests, repeats, sizes and times under client-go's names and buckets", async () => {
    const metrics = start();
    const observer = clientMetrics(metrics);
    const request = { method: "GET", host: "h:1", seconds: 0.3, requestBytes: 0, responseBytes: 70 };
    observer.onRequest!({ ...request, verb: "list", code: "200" });
    observer.onRequest!({ ...request, verb: "list", code: "<error>" });
    observer.onRequest!({ ...request, verb: "watch", code: "200", responseBytes: 0 });
    observer.onRetry!({ verb: "list", method: "GET", host: "h:1", code: "429" });
    observer.onRateLimited!({ verb: "list", method: "GET", host: "h:1", seconds: 0.02 });
    const text = await metrics.render();
    expect(text).toContain('rest_client_requests_total{code="200",method="GET",host="h:1"} 2');
    expect(text).toContain('rest_client_requests_total{code="<error>",method="GET",host="h:1"} 1');
    expect(text).toContain('rest_client_request_retries_total{code="429",verb="GET",host="h:1"} 1');
    expect(text).toContain('rest_client_request_duration_seconds_count{verb="GET",host="h:1"} 3');
    expect(text).toContain('rest_client_rate_limiter_duration_seconds_sum{verb="GET",host="h:1"} 0.02');
    expect(text).toContain('rest_client_response_size_bytes_bucket{le="64",verb="GET",host="h:1"} 0');
    expect(text).toContain('rest_client_response_size_bytes_bucket{le="256",verb="GET",host="h:1"} 2');
    expect(text).toContain('rest_client_request_size_bytes_count{verb="GET",host="h:1"} 3');
    const latency = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
    expect(bucketsOf(text, "rest_client_request_duration_seconds")).toEqual(latency);
    expect(bucketsOf(text, "rest_client_rate_limiter_duration_seconds")).toEqual(latency);
    const sizes = bucketsOf(text, "rest_client_response_size_bytes");
    expect([sizes[0], sizes.at(-1)]).toEqual([64, 16 * 1024 * 1024]);
  });
});

describe("metrics of leader election", () => {
  it("CORE-284 show 0 at the start and follow the leadership", async () => {
    const metrics = start();
    const observer = leaderMetrics(metrics, "quartet-manager");
    const before = await metrics.render();
    expect(before).toContain('leader_election_master_status{name="quartet-manager"} 0');
    expect(before).toContain('leader_election_slowpath_total{name="quartet-manager"} 0');
    expect(before).toContain("quartet_leader 0");
    expect(before).toContain("quartet_fenced_writes_total 0");
    observer.onLeading(true);
    observer.onSlowPath();
    observer.onFencedWrite();
    const after = await metrics.render();
    expect(after).toContain('leader_election_master_status{name="quartet-manager"} 1');
    expect(after).toContain('leader_election_slowpath_total{name="quartet-manager"} 1');
    expect(after).toContain("quartet_leader 1");
    expect(after).toContain("quartet_fenced_writes_total 1");
  });
});
