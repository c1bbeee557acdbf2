/** A1 to A3: the life of an Echo while nothing goes wrong. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ConfigMap, echoKind } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage, type StageManager } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

const merge = (path: string, body: object): Promise<unknown> =>
  stage.client.ok("PATCH", path, body, { contentType: "application/merge-patch+json" });

const reconciles = (manager: StageManager): Promise<number> =>
  manager.metric("controller_runtime_reconcile_total", 'controller="echo"');

it("core A1 CORE-131 CORE-303 CORE-309 an Echo is echoed once, its unknown fields survive, its child names its controller", async () => {
  const manager = await stage.start();
  const unknownToUs = { keep: [1, 2.5, null], empty: {}, none: [] };
  await echoes.create("a", { text: "hello", finalize: true, unknownToUs });
  const echo = await echoes.ready("a");
  expect(echo.spec).toEqual({ text: "hello", finalize: true, unknownToUs });
  expect(echo.status).toEqual({
    observedGeneration: 1,
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "Echoed",
        message: "",
        observedGeneration: 1,
        lastTransitionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    ],
  });
  const out = await echoes.out("a");
  expect(out).toMatchObject({ data: { text: "hello" } });
  expect(out!.metadata.ownerReferences).toEqual([
    {
      apiVersion: "test.quartet.io/v1",
      kind: "Echo",
      name: "a",
      uid: echo.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  const configMaps = await stage.client.ok<{ items: ConfigMap[] }>(
    "GET",
    `/api/v1/namespaces/${stage.namespace}/configmaps`,
  );
  const owned = configMaps.items.filter(({ metadata }) => metadata.ownerReferences !== undefined);
  expect(owned.map(({ metadata }) => metadata.name)).toEqual(["a-out"]);
  const { client } = manager.manager;
  const kind = echoKind("test.quartet.io");
  const key = { namespace: stage.namespace, name: "a" };
  await client.patch(kind, key, { type: "merge", body: { spec: { color: "red" } } });
  await eventually(async () => {
    const live = await client.get(kind, key);
    await client.update(kind, { ...live, metadata: { ...live.metadata, labels: { touched: "yes" } } });
  });
  const after = await echoes.ready("a");
  expect(after.metadata).toMatchObject({ labels: { touched: "yes" }, creationTimestamp: expect.any(String) });
  expect(after.spec).toEqual({ text: "hello", finalize: true, color: "red", unknownToUs });
});

it("core A1 CORE-302 the transition time of a condition stays while its status does", async () => {
  await stage.start();
  await echoes.create("a", { text: "one" });
  const before = (await echoes.ready("a")).status!.conditions![0]!.lastTransitionTime;
  await sleep(1_100);
  await echoes.merge("a", { spec: { text: "two" } });
  const [condition] = (await echoes.ready("a")).status!.conditions!;
  expect(condition).toMatchObject({ observedGeneration: 2, lastTransitionTime: before });
});

it("core A2 nothing is written or reconciled in a minute of rest, whatever unrelated objects do", async () => {
  const manager = await stage.start();
  await echoes.create("a", { text: "hello" });
  await echoes.ready("a");
  const path = `/api/v1/namespaces/${stage.namespace}/configmaps`;
  await stage.client.ok("POST", path, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "unrelated" },
  });
  await sleep(1_000);
  const [since, runs] = [Date.now(), await reconciles(manager)];
  for (let turn = 0; turn < 10; turn++) {
    await merge(`${path}/unrelated`, { metadata: { labels: { turn: `${turn}` } } });
    await sleep(6_000);
  }
  expect(await stage.writes(since)).toEqual([]);
  expect(await reconciles(manager)).toBe(runs);
}, 120_000);

it("core A2 CORE-224 CORE-302 a change of the status queues nothing, a change of labels does and leads to no write", async () => {
  const manager = await stage.start();
  await echoes.create("a", { text: "hello" });
  await echoes.ready("a");
  await sleep(500);
  const runs = await reconciles(manager);
  await merge(`${echoes.path}/a/status`, { status: { observedGeneration: 1, conditions: [] } });
  await sleep(500);
  expect(await reconciles(manager)).toBe(runs);
  await echoes.merge("a", { metadata: { labels: { first: "change" } } });
  await echoes.ready("a");
  await sleep(500);
  const [since, before] = [Date.now(), await reconciles(manager)];
  await echoes.merge("a", { metadata: { labels: { second: "change" } } });
  await eventually(async () => expect(await reconciles(manager)).toBe(before + 1));
  await sleep(200);
  expect(await stage.writes(since)).toEqual([]);
});

it("core A3 CORE-221 an edited and a deleted child is back within a second, by at most 3 reconciles each", async () => {
  const manager = await stage.start();
  await echoes.create("a", { text: "hello" });
  await echoes.ready("a");
  const changes = {
    edited: () =>
      stage.client.ok(
        "PATCH",
        echoes.outPath("a"),
        { data: { text: "drift" } },
        {
          contentType: "application/merge-patch+json",
        },
      ),
    deleted: () => stage.client.ok("DELETE", echoes.outPath("a")),
  };
  for (const change of Object.values(changes)) {
    await sleep(300);
    const runs = await reconciles(manager);
    await change();
    await eventually(async () => expect((await echoes.out("a"))?.data?.text).toBe("hello"), 1_000);
    await sleep(300);
    expect((await reconciles(manager)) - runs).toBeLessThanOrEqual(3);
    expect((await reconciles(manager)) - runs).toBeGreaterThanOrEqual(1);
  }
});

/** The garbage collector of a real server takes up to 30 s to learn of a new CRD, longer while others come and go. */
const COLLECTOR_MS = 120_000;

it("core A3 CORE-314 the server removes the child of a deleted Echo, the controller deletes nothing", async () => {
  await stage.start();
  await echoes.create("a", { text: "hello" });
  await echoes.ready("a");
  const since = Date.now();
  await echoes.remove("a");
  await eventually(async () => expect(await echoes.out("a")).toBeUndefined(), COLLECTOR_MS);
  expect(await stage.writes(since)).toEqual([]);
}, 150_000);
