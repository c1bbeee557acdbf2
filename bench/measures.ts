/** What is measured of one subject. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ControlPlane, type TestClient, testNamespace } from "@quartet/testing";
import { type Echoes, forEach, watchEchoes } from "./echoes.ts";
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
const EVENTS_UNIT = 1_000;
/** Time for a second replica to take its place behind the first. */
const STANDBY_MS = 4_000;

type Note = (id: string, value: number) => void;

/** B1–B3 and B5–B9 of one subject in a namespace of its own. */
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
  await measureFailOver(bench, subject, namespace.name, echoes, note);
  echoes.close();
  await namespace.remove();
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

/** B4: resident memory with all pods of a namespace cached, once it has settled. */
export async function measureMemory(
  bench: Bench,
  subject: Subject,
  namespace: string,
  cachePods: "full" | "metadata",
): Promise<number> {
  const running = await start(bench, subject, namespace, { cachePods });
  try {
    const deadline = Date.now() + SETTLE_LIMIT_MS;
    let before = 0;
    let now = residentMib(running.pid);
    while (Math.abs(now - before) > SETTLED_SHARE * now && Date.now() < deadline) {
      await sleep(SETTLE_MS);
      [before, now] = [now, residentMib(running.pid)];
    }
    return now;
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

function secondsSince(begun: number): number {
  return (performance.now() - begun) / 1000;
}
