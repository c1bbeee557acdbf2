/** A7 and A17: a server that asks for patience, and watches that tell late. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "@quartet/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CONFIG_MAP, echoKind } from "../echo/echo.ts";
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
  expect(await manager.metric("rest_client_request_retries_total", 'code="429"')).toBe(3);
  await echoes.ready("a");
});

/** How late watches tell of what happened. */
const LATE_MS = 3_000;

it("core A17 CORE-185 a second reconcile sees what the first wrote, although watches tell of it 3 s later", async () => {
  stage.proxy.add({ watch: true, fault: { kind: "late", ms: LATE_MS } });
  const key = { namespace: stage.namespace, name: "a" };
  const echo = echoKind("test.quartet.io");
  /** Resource versions of ConfigMap and Echo as each reconcile finds them. */
  const seen: (string | undefined)[][] = [];
  const manager = await stage.start({
    async onReconcile() {
      const { cache } = manager.manager;
      const out = await cache.get(CONFIG_MAP, { ...key, name: "a-out" });
      seen.push([out, await cache.get(echo, key)].map((object) => object?.metadata.resourceVersion));
    },
  });
  await manager.ready;
  const created = await echoes.create("a", { text: "hello" });
  const written = await echoes.ready("a");
  const out = await echoes.out("a");
  const [controller] = manager.manager.controllers();
  controller!.enqueue(key);
  await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(2));
  const version = (object: KubeObject | undefined): string | undefined => object?.metadata.resourceVersion;
  expect(seen.slice(0, 2)).toEqual([
    [undefined, version(created)],
    [version(out), version(written)],
  ]);
  // Until the watches have told of all of it, and nothing follows from that.
  await sleep(LATE_MS + 500);
  await eventually(async () => expect(await manager.metric("controller_runtime_active_workers")).toBe(0));
  const writes = await stage.writes();
  expect(writes).toEqual([
    expect.stringMatching(/^(apply|patch) configmaps a-out$/),
    "patch echoes/status a",
  ]);
  const refused = (await stage.requests()).filter(({ code, resource }) => code >= 400 && resource !== "");
  expect(refused).toEqual([]);
});
