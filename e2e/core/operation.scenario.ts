/** A8, A9 and A18: many Echoes at once, a change of leaders, and what a manager shows of itself. */
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

/** Metrics that dashboards for controller-runtime look for, and the labels of each. */
const METRICS: Readonly<Record<string, readonly string[]>> = {
  controller_runtime_reconcile_total: ["controller", "result"],
  controller_runtime_reconcile_errors_total: ["controller"],
  controller_runtime_terminal_reconcile_errors_total: ["controller"],
  controller_runtime_reconcile_panics_total: ["controller"],
  controller_runtime_reconcile_timeouts_total: ["controller"],
  controller_runtime_reconcile_time_seconds_bucket: ["controller", "le"],
  controller_runtime_max_concurrent_reconciles: ["controller"],
  controller_runtime_active_workers: ["controller"],
  workqueue_depth: ["controller", "name", "priority"],
  workqueue_adds_total: ["controller", "name"],
  workqueue_retries_total: ["controller", "name"],
  workqueue_queue_duration_seconds_bucket: ["controller", "le", "name"],
  workqueue_work_duration_seconds_bucket: ["controller", "le", "name"],
  workqueue_unfinished_work_seconds: ["controller", "name"],
  workqueue_longest_running_processor_seconds: ["controller", "name"],
  rest_client_requests_total: ["code", "host", "method"],
  rest_client_request_duration_seconds_bucket: ["host", "le", "verb"],
  controller_runtime_webhook_requests_total: ["code", "webhook"],
  controller_runtime_webhook_requests_in_flight: ["webhook"],
  rest_client_rate_limiter_duration_seconds_bucket: ["host", "le", "verb"],
  rest_client_request_size_bytes_bucket: ["host", "le", "verb"],
  rest_client_response_size_bytes_bucket: ["host", "le", "verb"],
  rest_client_request_retries_total: ["code", "host", "verb"],
  leader_election_master_status: ["name"],
  leader_election_slowpath_total: ["name"],
  controller_runtime_webhook_latency_seconds_bucket: ["le", "webhook"],
  controller_runtime_webhook_panics_total: [],
  controller_runtime_conversion_webhook_panics_total: [],
  certwatcher_read_certificate_total: [],
  certwatcher_read_certificate_errors_total: [],
};

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (?:NaN|[+-]Inf|[-+0-9.e]+)$/;

/** Label names by metric name; throws on a line that is none of the text format. */
function parseMetrics(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name, labels = ""] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a sample: ${line}`);
    found.set(name, [...labels.matchAll(/([a-z_]+)="(?:[^"\\]|\\.)*"/g)].map((match) => match[1]!).sort());
  }
  return found;
}

it("core A18 CORE-284 metrics parse, all of the dashboards' are there with their labels, the queue empties", async () => {
  // One refusal and a rate limit, so that their families have samples.
  const path = new RegExp(`^${echoes.path}`);
  stage.proxy.add({ path, fault: { kind: "tooManyRequests", retryAfterSeconds: 1 }, times: 1 });
  const manager = await stage.start({ args: ["--webhook-port=0", "--leader-elect", "--kube-api-qps=100"] });
  await callWebhook(`${manager.urls.webhook}/validate-echo`);
  await echoes.create("a", { text: "hello" });
  await echoes.ready("a");
  await eventually(async () => expect(await manager.metric("workqueue_depth")).toBe(0));
  const metrics = parseMetrics(await (await fetch(`${manager.urls.metrics}/metrics`)).text());
  for (const [name, labels] of Object.entries(METRICS))
    expect([name, metrics.get(name)]).toEqual([name, labels]);
});

it("core A18 CORE-263 CORE-282 readyz lists its checks; during a shutdown it fails while webhooks go on", async () => {
  const manager = await stage.start({ args: ["--webhook-port=0", "--shutdown-delay=5s"] });
  await manager.ready;
  const readyz = async (): Promise<[number, string]> => {
    const answer = await fetch(`${manager.urls.health}/readyz?verbose`);
    return [answer.status, await answer.text()];
  };
  const [code, text] = await readyz();
  expect(code).toBe(200);
  for (const check of ["caches", "webhook", "shutdown"]) expect(text).toContain(`[+]${check} ok`);
  const hook = `${manager.urls.webhook}/validate-echo`;
  const stopped = manager.stop();
  await eventually(async () => {
    const [status, checks] = await readyz();
    expect([status, checks]).toEqual([500, expect.stringContaining("[-]shutdown failed")]);
  }, 1_500);
  const since = Date.now();
  while (Date.now() - since < 3_500) {
    // Bad requests, but of an answer.
    expect(await callWebhook(hook)).toBe(415);
    await sleep(500);
  }
  expect(await stopped).toMatchObject({ code: 0 });
  await expect(callWebhook(hook)).rejects.toThrow("ECONNREFUSED");
});

/** Sends a request without a body; resolves with the status code of the answer. */
function callWebhook(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    });
    call.on("error", reject).end();
  });
}

const MANY = 2_000;
const WORKERS = 4;
const RECONCILE_MS = 20;
/** Reconciles that four workers get done in the 500 ms that the new Echo may take, however slow the machine is. */
const ENDED_IN_500_MS = (500 / RECONCILE_MS) * WORKERS;
/** Changes per second of the busy Echo. */
const FEED_PER_SECOND = 300;

it(`core A8 CORE-203 CORE-205 at a restart a new Echo overtakes ${MANY} old ones, which all get their turn beside a busy one`, async () => {
  await createMany(MANY);
  const done = new Set<string>();
  let ended = 0;
  let newEndedAt = Number.NaN;
  const manager = await stage.start({
    args: [`--max-concurrent-reconciles=${WORKERS}`],
    async onReconcile({ name }) {
      await sleep(RECONCILE_MS);
      done.add(name);
      ended++;
      if (name === "new" && Number.isNaN(newEndedAt)) newEndedAt = ended;
      // The old ones were echoed before the restart.
      return name === "new" ? undefined : "done";
    },
  });
  const feeding = new AbortController();
  const feeder = feed("old-0", feeding.signal);
  try {
    await sleep(1_000);
    await echoes.create("new", { text: "new" });
    const endedBefore = ended;
    await echoes.ready("new");
    expect(newEndedAt - endedBefore).toBeLessThanOrEqual(ENDED_IN_500_MS);
    expect(done.size).toBeLessThan(MANY);
    await eventually(() => expect(done.size).toBe(MANY + 1), 120_000);
  } finally {
    feeding.abort();
    await feeder;
  }
  await eventually(async () => expect(await manager.metric("workqueue_depth")).toBe(0));
}, 240_000);

async function createMany(count: number): Promise<void> {
  const rest = Array.from({ length: count }, (_, index) => `old-${index}`).values();
  const work = async (): Promise<void> => {
    for (const name of rest) await echoes.create(name, { text: "old" });
  };
  await Promise.all(Array.from({ length: 20 }, work));
}

/** Changes an Echo 300 times a second, or as often as the server takes it. */
async function feed(name: string, signal: AbortSignal): Promise<void> {
  const begun = performance.now();
  for (let turn = 0; !signal.aborted; turn++) {
    await echoes.merge(name, { spec: { text: `${turn}` } });
    await sleep(Math.max(0, begun + (turn * 1_000) / FEED_PER_SECOND - performance.now()));
  }
}

it("core A9 CORE-262 a leader that is told to stop ends its reconcile of 5 s, exits with 0, and the other leads within 5 s", async () => {
  let running = 0;
  let finished = 0;
  const first = await stage.start({
    args: ["--leader-elect"],
    async onReconcile() {
      running++;
      await sleep(5_000);
      finished++;
    },
  });
  await first.leading;
  const second = await stage.start({ args: ["--leader-elect"] });
  await echoes.create("a", { text: "hello" });
  await eventually(() => expect(running).toBe(1));
  expect(second.manager.isLeader()).toBe(false);
  expect(await first.stop()).toEqual({ code: 0, stuck: [] });
  const stopped = Date.now();
  expect(finished).toBe(running);
  expect(await echoes.out("a")).toMatchObject({ data: { text: "hello" } });
  await second.leading;
  // The Lease was given back: it has not run out.
  expect(Date.now() - stopped).toBeLessThan(15_000);
  const path = `/apis/coordination.k8s.io/v1/namespaces/${stage.namespace}/leases/quartet-manager`;
  const lease = await stage.client.ok<{ spec: { leaseTransitions: number } }>("GET", path);
  expect(lease.spec.leaseTransitions).toBe(1);
  await echoes.merge("a", { spec: { text: "led by the second" } });
  await echoes.ready("a");
});
