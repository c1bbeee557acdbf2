/** A controller that only plans: what it would do is told, and nothing is changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { EXPLAIN_PATH } from "@quartet/manager";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FINALIZER } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage, type StageManager } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

interface Listed {
  items: { metadata: { name: string; resourceVersion: string } }[];
}

/** Names with resource versions of all that the controller could write. */
async function versions(): Promise<string[]> {
  const paths = [echoes.path, `/api/v1/namespaces/${stage.namespace}/configmaps`];
  const lists = await Promise.all(paths.map((path) => stage.client.ok<Listed>("GET", path)));
  return lists.flatMap(({ items }) =>
    items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
  );
}

interface PlanEvent {
  reason: string;
  note: string;
  regarding: { kind: string; name: string; uid: string };
}

async function events(): Promise<PlanEvent[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${stage.namespace}/events`;
  return (await stage.client.ok<{ items: PlanEvent[] }>("GET", path)).items;
}

const told = (manager: StageManager): Record<string, unknown>[] =>
  manager.log.filter(({ msg }) => msg === "Planned change");

const reconciles = (manager: StageManager): Promise<number> =>
  manager.metric("controller_runtime_reconcile_total", 'controller="echo"');

const PLANNING = ["--dry-run-controllers=echo", "--leader-elect"];

it("CORE-241 CORE-242 CORE-243 an edit is planned, told once by log, event and explain, and nothing is written", async () => {
  const worker = await stage.start();
  await echoes.create("a", { text: "hello" });
  await echoes.ready("a");
  await worker.stop();

  const since = Date.now();
  const manager = await stage.start({ args: PLANNING });
  await manager.leading;
  const edited = await echoes.merge("a", { spec: { text: "edited" } });
  await eventually(() => expect(told(manager)).toHaveLength(1));
  const before = await versions();
  const write = expect.stringMatching(new RegExp(`^apply configmaps ${stage.namespace}/a-out$`));
  const plan = { write, changes: ["~ data.text: hello -> edited"] };
  expect(told(manager)[0]).toMatchObject({ ...plan, controller: "echo", name: "a" });
  await eventually(async () =>
    expect((await events()).filter(({ reason }) => reason === "PlannedChange")).toEqual([
      expect.objectContaining({
        note: expect.stringMatching(/^would apply configmaps .*a-out: ~ data\.text: hello -> edited$/),
        regarding: expect.objectContaining({ kind: "Echo", name: "a", uid: edited.metadata.uid }),
      }),
    ]),
  );
  const query = `kind=echo&key=${stage.namespace}/a`;
  const explained = await (await fetch(`${manager.urls.debug}${EXPLAIN_PATH}?${query}`)).json();
  expect(explained).toMatchObject({ controllers: [{ dryRun: true, plan: [plan] }] });

  const [controller] = manager.manager.controllers();
  for (let turn = 0; turn < 3; turn++) {
    const runs = await reconciles(manager);
    controller!.enqueue({ namespace: stage.namespace, name: "a" });
    await eventually(async () => expect(await reconciles(manager)).toBe(runs + 1));
  }
  expect(told(manager)).toHaveLength(1);
  expect(await versions()).toEqual(before);
  const writes = (await stage.requests(since)).filter(({ verb }) => verb === "patch" || verb === "apply");
  const own = writes.filter(({ resource }) => resource === "echoes" || resource === "configmaps");
  expect(own.length).toBeGreaterThanOrEqual(8);
  expect(own.every(({ dryRun }) => dryRun)).toBe(true);
  expect((await echoes.get("a"))!.status).toMatchObject({ observedGeneration: 1 });
  expect(manager.manager.isLeader()).toBe(true);
});

it("CORE-241 nothing is created, no finalizer is set, no cleanup runs, and no dry run makes the next one", async () => {
  const worker = await stage.start();
  await echoes.create("old", { text: "old", finalize: true });
  await echoes.ready("old");
  await worker.stop();

  const manager = await stage.start({ args: PLANNING });
  await manager.leading;
  await echoes.create("new", { text: "new", finalize: true });
  await echoes.remove("old");
  await eventually(() => {
    const plans = told(manager).map(({ write, changes }) => `${write} ${changes}`);
    expect(plans.sort()).toEqual([
      expect.stringMatching(/^apply configmaps \S+\/new-out .*\+ data\.text: new$/),
      expect.stringMatching(
        new RegExp(`^patch echoes\\S+ \\S+/new \\+ metadata\\.finalizers: .*${FINALIZER}`),
      ),
      expect.stringMatching(new RegExp(`^patch echoes\\S+ \\S+/old - metadata\\.finalizers: .*${FINALIZER}`)),
    ]);
  });
  const [before, runs] = [await versions(), await reconciles(manager)];
  await sleep(1_000);
  // A run that was under way when they were counted
  expect((await reconciles(manager)) - runs).toBeLessThanOrEqual(1);
  expect(await versions()).toEqual(before);
  expect(await echoes.out("new")).toBeUndefined();
  const now = await echoes.get("new");
  expect([now!.metadata.finalizers, now!.status]).toEqual([undefined, undefined]);
  expect((await echoes.get("old"))!.metadata.finalizers).toEqual([FINALIZER]);
  expect(stage.endpoint.calls).toEqual([]);
  await echoes.merge("old", { metadata: { finalizers: null } });
});
