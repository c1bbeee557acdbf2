/** When what runs: the scheduler over a source in memory, with files in a folder of the test. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, eventually, type Scene } from "../agent.testkit.ts";
import type { Client } from "../backend/client.ts";
import { loadSettings, type Settings } from "../config/settings.ts";
import { BackendError } from "../errors.ts";
import { NO_METRICS } from "../observe/metrics.ts";
import { loadResources } from "../resource/load.ts";
import { createPendingReloads } from "./pending.ts";
import { createRenderer } from "./render.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { createSecretTexts } from "./secrets.ts";
import { createSlots } from "./slots.ts";
import { type Tracked, track } from "./tracked.ts";

let scene: Scene;
const log: string[] = [];
const source = { values: new Map<string, string>(), revision: 1, reads: 0, delay: 0, problem: "" };
let schedulers: Scheduler[];
beforeEach(() => {
  scene = createScene();
  log.length = 0;
  schedulers = [];
  Object.assign(source, { values: new Map(), revision: 1, reads: 0, delay: 0, problem: "" });
});
afterEach(async () => {
  await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
  await scene.close();
});

const client = (settings: Settings): Client => ({
  settings,
  read: async () => {
    source.reads += 1;
    const { revision } = source;
    const values = new Map(source.values);
    await sleep(source.delay);
    if (source.problem !== "") throw new BackendError(source.problem);
    return { values, revision };
  },
  health: async () => {},
  follow: () => {},
  stopFollowing: async () => {},
  watches: () => true,
  isConstant: () => false,
  isSecret: () => false,
  keepsPrivate: () => false,
  outageSince: () => undefined,
  close: async () => {},
});

function start(more: Partial<Settings> = {}): { scheduler: Scheduler; resources: Tracked[] } {
  const settings = { ...loadSettings(new Map(), {}).settings, confdir: scene.folder, fsync: false, ...more };
  const one = client(settings);
  const { resources, errors } = loadResources(settings);
  expect(errors).toEqual([]);
  const tracked = resources.map((resource) => track(resource, one));
  const scheduler = createScheduler(
    {
      settings,
      environment: { PATH: process.env.PATH },
      renderer: createRenderer(),
      slots: createSlots(settings.concurrency),
      pending: createPendingReloads("", () => {}),
      secrets: createSecretTexts(),
      metrics: NO_METRICS,
      log: (level, message) => void log.push(`${level} ${message}`),
      signal: new AbortController().signal,
      onFolders: () => {},
    },
    () => tracked,
  );
  schedulers.push(scheduler);
  return { scheduler, resources: tracked };
}
const put = (key: string, value: string): number => {
  source.values.set(key, value);
  source.revision += 1;
  return source.revision;
};
const name = {
  keys: ["/name"],
  template: '{{getv "/name"}}',
  lines: ['reload_cmd = "echo r >> {}/reloads"'],
};
const reloads = (): number => (scene.exists("reloads") ? scene.read("reloads").length / 2 : 0);

it("CONFD-PROC-6 CONFD-CMD-13 triggers during a run are one further run", async () => {
  scene.resource("a", name);
  put("/name", "1");
  const { scheduler, resources } = start();
  source.delay = 100;
  scheduler.mark(resources[0]!);
  await eventually(
    () => source.reads,
    (count) => count === 1,
  );
  for (let i = 2; i <= 5; i++) scheduler.mark(resources[0]!, { revision: put("/name", String(i)) });
  await scheduler.settled();
  expect([source.reads, scene.read("a"), reloads()]).toEqual([2, "5", 2]);
});

it("CONFD-PROC-16 AS-16 resources that are marked together share one read, and one reload of the same command", async () => {
  for (let i = 0; i < 50; i++) scene.resource(`f${i}`, name);
  put("/name", "1");
  const { scheduler, resources } = start();
  for (const one of resources) scheduler.mark(one);
  await scheduler.settled();
  expect([source.reads, reloads()]).toEqual([1, 1]);
  expect(scene.read("f49")).toBe("1");
});

it("CONFD-PROC-12 CONFD-FILE-14 values that are the same are not rendered again, and an edited file is restored", async () => {
  scene.resource("a", { ...name, template: '{{getv "/name"}} {{datetime.UnixNano}}' });
  put("/name", "1");
  const { scheduler, resources } = start();
  scheduler.mark(resources[0]!);
  await scheduler.settled();
  const first = scene.read("a");
  scheduler.mark(resources[0]!, { resync: true });
  await scheduler.settled();
  expect([scene.read("a"), reloads()]).toEqual([first, 1]);
  scene.write("a", "edited");
  scheduler.mark(resources[0]!, { resync: true });
  await scheduler.settled();
  expect([scene.read("a"), reloads()]).toEqual([first, 2]);
});

it("CONFD-PROC-10 CONFD-PROC-9 the same error is logged once, retried with growing pauses, and its end is told", async () => {
  scene.resource("a", name);
  put("/name", "1");
  source.problem = "away";
  const { scheduler, resources } = start({ watchErrorBackoff: 5, watchErrorBackoffMax: 20 });
  scheduler.mark(resources[0]!);
  await eventually(
    () => source.reads,
    (count) => count >= 5,
  );
  expect(log.filter((line) => line.startsWith("error"))).toEqual(["error away"]);
  source.problem = "";
  await eventually(() => log.some((line) => line.includes("works again")), Boolean);
  expect(scene.read("a")).toBe("1");
});

it("CONFD-DEB-2 changes without end are processed after debounce-max", async () => {
  scene.resource("a", name);
  const { scheduler, resources } = start({ debounce: 200, debounceMax: 500 });
  const began = performance.now();
  while (!scene.exists("a")) {
    scheduler.mark(resources[0]!, { settle: true, revision: put("/name", "x") });
    await sleep(20);
  }
  expect(performance.now() - began).toBeGreaterThanOrEqual(490);
});

it("CONFD-DEB-3 what is no change of a key does not wait, and a resource has its own debounce", async () => {
  scene.resource("a", name);
  scene.resource("b", { ...name, lines: [`debounce = "0s"`] });
  put("/name", "1");
  const { scheduler, resources } = start({ debounce: 60_000 });
  scheduler.mark(resources[0]!);
  scheduler.mark(resources[1]!, { settle: true });
  await scheduler.settled();
  expect([scene.read("a"), scene.read("b")]).toEqual(["1", "1"]);
});

it("CONFD-PROC-18 AS-5 a batch gathers changes of all resources, and is processed before the end", async () => {
  scene.resource("a", name);
  scene.resource("b", name);
  put("/name", "1");
  const { scheduler, resources } = start({ batchInterval: 300 });
  for (let i = 1; i <= 3; i++) {
    for (const one of resources) scheduler.mark(one, { settle: true, revision: put("/name", String(i)) });
    await sleep(20);
  }
  expect(source.reads).toBe(0);
  await eventually(reloads, (count) => count === 1);
  expect([source.reads, scene.read("a"), scene.read("b")]).toEqual([1, "3", "3"]);
  scheduler.mark(resources[0]!, { settle: true, revision: put("/name", "last") });
  await scheduler.stop();
  expect(scene.read("a")).toBe("last");
});

it("CONFD-WATCH-1 CONFD-WATCH-6 the position moves after a run that succeeded, to what it read", async () => {
  scene.resource("a", { ...name, lines: ['check_cmd = "test -e {}/allowed"'] });
  const revision = put("/name", "1");
  const { scheduler, resources } = start({ watchErrorBackoff: 5, watchErrorBackoffMax: 20 });
  const [one] = resources;
  scheduler.mark(one!, { revision });
  await eventually(
    () => source.reads,
    (count) => count >= 2,
  );
  expect(one!.processedRevision).toBeUndefined();
  scene.write("allowed", "");
  await eventually(
    () => one!.processedRevision,
    (position) => position === revision,
  );
});

it("CONFD-WATCH-15 with debounce 0 a change is processed in the turn of the event loop that brought it", async () => {
  scene.resource("a", name);
  const { scheduler, resources } = start();
  scheduler.mark(resources[0]!, { settle: true, revision: put("/name", "1") });
  await new Promise((resolve) => setImmediate(resolve));
  expect(source.reads).toBe(1);
  await scheduler.settled();
  expect(scene.read("a")).toBe("1");
});
