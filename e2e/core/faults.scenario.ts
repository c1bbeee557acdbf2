/** A7 and A17: a server that asks for patience, and watches that fall silent. */
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

it("core A7 CORE-168 three answers of 429 with Retry-After 1 delay the start by 3 s at least and end nothing", async () => {
  await echoes.create("a", { text: "hello" });
  const path = new RegExp(`^${echoes.path}`);
  const rule = stage.proxy.add({ path, fault: { kind: "tooManyRequests", retryAfterSeconds: 1 }, times: 3 });
  const began = Date.now();
  const manager = await stage.start();
  await manager.ready;
  const waited = Date.now() - began;
  expect(rule.hits).toBe(3);
  expect(waited).toBeGreaterThanOrEqual(3_000);
  expect(waited).toBeLessThan(8_000);
  expect(await manager.metric("rest_client_request_retries_total", 'code="429"')).toBe(3);
  await echoes.ready("a");
});

it("core A17 CORE-185 a reconcile sees its own writes while its watches are silent, and writes nothing twice", async () => {
  let runs = 0;
  const manager = await stage.start({ onReconcile: () => void runs++ });
  await manager.ready;
  await echoes.create("warm", { text: "up" });
  await echoes.ready("warm");
  const { client, namespace } = stage;
  const created = echoes.create("a", { text: "hello" });
  await eventually(async () => expect(await echoes.out("a")).toBeDefined());
  // From here on no watch says anything of what was written.
  expect(stage.proxy.freeze({ watch: true })).toBeGreaterThanOrEqual(2);
  await created;
  await echoes.ready("a");
  const [since, before] = [Date.now(), runs];
  const [controller] = manager.manager.controllers();
  for (let turn = 1; turn <= 2; turn++) {
    controller!.enqueue({ namespace, name: "a" });
    await eventually(() => expect(runs).toBe(before + turn));
  }
  await eventually(async () => expect(await manager.metric("controller_runtime_active_workers")).toBe(0));
  expect(await stage.writes(since)).toEqual([]);
  const { metadata } = await client.ok<{ metadata: { resourceVersion: string } }>("GET", `${echoes.path}/a`);
  const kind = { group: "test.quartet.io", version: "v1", kind: "Echo", plural: "echoes", namespaced: true };
  const seen = await manager.manager.cache.get(kind, { namespace, name: "a" });
  expect(seen?.metadata.resourceVersion).toBe(metadata.resourceVersion);
});
