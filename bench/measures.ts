/** What is measured of one subject. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ControlPlane, type TestClient, testNamespace } from "@quartet/testing";
import { type Echoes, forEach, watchEchoes } from "./echoes.ts";
import { sumOf } from "./metrics.ts";
import type { BenchOptions } from "./options.ts";
import { cpuSeconds, residentMib } from "./process.ts";
import { percentile } from "./statistics.ts";
import { type RunningSubject, type Subject, startSubject } from "./subject.ts";

/** Where subjects run. */
export interface Bench {
  readonly plane: ControlPlane;
  readonly client: TestClient;
  readonly folder: string;
  readonly options: BenchOptions;
}

/** CPU of the subjects when pinned; the control plane has the others. */
export const SUBJECT_CPU = 0;
/** Requests that keep a subject running and say nothing of its objects. */
const UPKEEP = new Set(["list", "watch"]);
/** Memory counts as settled when it changed by less than this share within {@link SETTLE_MS}. */
const SETTLED_SHARE = 0.01;
const SETTLE_MS = 3_000;
const SETTLE_LIMIT_MS = 30_000;
const UNTIL_LIMIT_MS = 120_000;
const EVENTS_UNIT = 1_000;
const READY_POLL_MS = 5;
const METRICS_POLL_MS = 50;
/** Time for a second replica to take its place behind the first. */
const STANDBY_MS = 4_000;

const MERGE_PATCH = "application/merge-patch+json";

type Note = (id: string, value: number) => void;

/** B1–B3 and B5–B10 of one subject in a namespace of its own. */
export async function measureWork(bench: Bench, subject: Subject, note: Note): Promise<void> {
  const { plane, options } = bench;
  const namespace = await testNamespace(bench.client);
  const echoes = watchEchoes(bench.client, namespace.name);
  await echoes.create("first", "first");
  const begun = performance.now();
  const running = await start(bench, subject, namespace.name);
  try {
    await echoes.ready(["first"], "first");
    note("B5", secondsSince(begun));
    const names = Array.from({ length: options.objects }, (_, index) => `e-${index}`);
    const [cpu, events] = [cpuSeconds(running.pid), echoes.events];
    await timed(bench, running, "create", names, (name) => echoes.create(name, "one"), echoes, "one", note);
    await timed(bench, running, "update", names, (name) => echoes.update(name, "two"), echoes, "two", note);
    note("B9", ((cpuSeconds(running.pid) - cpu) / (echoes.events - events)) * EVENTS_UNIT);
    await measureLatency(options.samples, echoes, note);
    await plane.restartApiServer();
    const back = performance.now();
    await echoes.update("first", "after the outage");
    await echoes.echoed("first", "after the outage");
    note("B8", secondsSince(back));
  } finally {
    await running.stop();
  }
  await measureRestart(bench, subject, namespace.name, note);
  await measureFailOver(bench, subject, namespace.name, echoes, note);
  echoes.close();
  await namespace.empty();
}

/** B1 or B2, with B7. */
async function timed(
  { plane }: Bench,
  { user }: RunningSubject,
  kind: "create" | "update",
  names: readonly string[],
  change: (name: string) => Promise<void>,
  echoes: Echoes,
  text: string,
  note: Note,
): Promise<void> {
  const since = Date.now();
  const begun = performance.now();
  await forEach(names, change);
  await echoes.ready(names, text);
  note(kind === "create" ? "B1" : "B2", secondsSince(begun));
  const requests = await plane.requests({ user, since });
  const work = requests.filter(({ verb, resource }) => !UPKEEP.has(verb) && resource !== "leases");
  note(`B7 ${kind}`, work.length / names.length);
}

/** B3: one change at a time on an idle controller. */
async function measureLatency(samples: number, echoes: Echoes, note: Note): Promise<void> {
  const latencies: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const text = `sample ${sample}`;
    const begun = performance.now();
    const seen = echoes.echoed("first", text);
    await echoes.update("first", text);
    latencies.push((await seen) - begun);
    await echoes.ready(["first"], text);
  }
  note("B3 p50", percentile(latencies, 0.5));
  note("B3 p99", percentile(latencies, 0.99));
}

/** B10: a start that finds everything as it should be. */
async function measureRestart(bench: Bench, subject: Subject, namespace: string, note: Note): Promise<void> {
  const begun = performance.now();
  const running = await start(bench, subject, namespace);
  try {
    const enough = bench.options.objects;
    await until("every Echo was reconciled", METRICS_POLL_MS, async () => {
      const text = (await get(running.metrics))?.text ?? "";
      return sumOf("controller_runtime_reconcile_total", text) >= enough;
    });
    note("B10", secondsSince(begun));
  } finally {
    await running.stop();
  }
}

/**
 * What the API server needs for the writes of B1 when no controller has a part in it: the load generator creates each
 * Echo, applies its ConfigMap and patches its status, 16 at a time. Seconds.
 */
export async function measureRawWrites({ client, options }: Bench): Promise<number> {
  const namespace = await testNamespace(client);
  const [echoes, maps] = ["apis/test.quartet.io/v1", "api/v1"].map(
    (root, index) => `/${root}/namespaces/${namespace.name}/${["echoes", "configmaps"][index]}`,
  );
  const names = Array.from({ length: options.objects }, (_, index) => `e-${index}`);
  const begun = performance.now();
  await forEach(names, async (name) => {
    const echo = {
      apiVersion: "test.quartet.io/v1",
      kind: "Echo",
      metadata: { name },
      spec: { text: "one" },
    };
    await client.ok("POST", echoes!, echo);
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${name}-out` },
      data: { text: "one" },
    };
    const contentType = "application/apply-patch+yaml";
    await client.ok("PATCH", `${maps}/${name}-out?fieldManager=raw&force=true`, map, { contentType });
    const status = { observedGeneration: 1 };
    await client.ok("PATCH", `${echoes}/${name}/status`, { status }, { contentType: MERGE_PATCH });
  });
  const seconds = secondsSince(begun);
  await namespace.empty();
  return seconds;
}

/** B6: two replicas, a clean end of the leader. */
async function measureFailOver(
  bench: Bench,
  subject: Subject,
  namespace: string,
  echoes: Echoes,
  note: Note,
): Promise<void> {
  const leader = await start(bench, subject, namespace, { leaderElect: true });
  let standby: RunningSubject | undefined;
  try {
    await echoes.update("first", "led");
    await echoes.echoed("first", "led");
    standby = await start(bench, subject, namespace, { leaderElect: true });
    await sleep(STANDBY_MS);
    const begun = performance.now();
    await leader.stop();
    await echoes.update("first", "led by the next");
    await echoes.echoed("first", "led by the next");
    note("B6", secondsSince(begun));
  } finally {
    await leader.stop();
    await standby?.stop();
  }
}

/** B4 and B5 with all pods of a namespace cached: resident memory once it has settled, and the time to fill the cache. */
export async function measureMemory(
  bench: Bench,
  subject: Subject,
  namespace: string,
  cachePods: "full" | "metadata",
): Promise<{ seconds: number; mib: number }> {
  const begun = performance.now();
  const running = await start(bench, subject, namespace, { cachePods });
  try {
    await until("all pods are cached", READY_POLL_MS, async () => (await get(running.ready))?.ok === true);
    const seconds = secondsSince(begun);
    const deadline = Date.now() + SETTLE_LIMIT_MS;
    let before = 0;
    let now = residentMib(running.pid);
    while (Math.abs(now - before) > SETTLED_SHARE * now && Date.now() < deadline) {
      await sleep(SETTLE_MS);
      [before, now] = [now, residentMib(running.pid)];
    }
    return { seconds, mib: now };
  } finally {
    await running.stop();
  }
}

function start(
  { plane, folder, options }: Bench,
  subject: Subject,
  namespace: string,
  more: { leaderElect?: boolean; cachePods?: "full" | "metadata" } = {},
): Promise<RunningSubject> {
  const cpu = options.pin ? { cpu: SUBJECT_CPU } : {};
  return startSubject(subject, plane, folder, { namespace, ...more, ...cpu });
}

/** An answer; undefined as long as nobody listens there. */
async function get(url: string): Promise<{ ok: boolean; text: string } | undefined> {
  try {
    const answer = await fetch(url);
    return { ok: answer.ok, text: await answer.text() };
  } catch {
    return undefined;
  }
}

async function until(what: string, pollMs: number, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + UNTIL_LIMIT_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`not in ${UNTIL_LIMIT_MS / 1000} s: ${what}`);
    await sleep(pollMs);
  }
}

function secondsSince(begun: number): number {
  return (performance.now() - begun) / 1000;
}
