/** A4, A5, A6 and an admission plugin: tests that break, rest or tune the API server, and so have a control plane of their own. */

import { setTimeout as sleep } from "node:timers/promises";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "@quartet/testing";
import { afterEach, expect, it } from "vitest";
import { type ConfigMap, createEchoModule, echoKind } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage } from "./support/stage.ts";

let controlPlane: ControlPlane;
let stage: Stage;
let echoes: Echoes;

async function open(options: ControlPlaneOptions = {}): Promise<void> {
  controlPlane = await startControlPlane({
    controllerManager: false,
    scheduler: false,
    kwok: false,
    ...options,
  });
  stage = await openStage(controlPlane);
  echoes = echoesOf(stage);
}
afterEach(async () => {
  await stage.close();
  await controlPlane.stop();
});

/** Creates Echoes, a few at a time. */
async function createMany(count: number, name: (index: number) => string): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await echoes.create(name(next++), { text: "hello" });
  };
  await Promise.all(Array.from({ length: 20 }, worker));
}

it("core A4 CORE-167 CORE-172 after lost history each informer lists once, and missed deletions arrive as stale deletes", async () => {
  await open();
  await createMany(10, (index) => `e-${index}`);
  const manager = await stage.start();
  await manager.ready;
  await echoes.ready("e-9");
  const informers = manager.manager.cache.informers();
  const listed = (): Promise<number> => manager.metric("quartet_reflector_lists_total", 'reason="expired"');
  const deleted: { name: string | undefined; stale: boolean }[] = [];
  const echoInformer = informers.find(({ kind }) => kind.kind === "Echo")!;
  echoInformer.addHandler((event) => {
    if (event.type !== "delete") return;
    deleted.push({ name: event.object.metadata.name, stale: event.stale === true });
  });

  await stage.proxy.down();
  for (let turn = 0; turn < 200; turn++) await echoes.merge("e-9", { spec: { text: `${turn}` } });
  const victims = ["e-0", "e-1", "e-2", "e-3", "e-4"];
  for (const name of victims) await echoes.remove(name);
  await controlPlane.forgetHistory();
  await stage.proxy.up();

  await eventually(async () => expect((await echoes.out("e-9"))?.data?.text).toBe("199"), 90_000);
  await eventually(() => expect(deleted).toHaveLength(5), 60_000);
  expect(deleted.map(({ name }) => name).sort()).toEqual(victims);
  expect(deleted.every(({ stale }) => stale)).toBe(true);
  await eventually(async () => expect(await listed()).toBe(informers.length), 60_000);
  await echoes.ready("e-9");
  const key = { namespace: stage.namespace, name: "e-9" };
  const kind = echoKind("test.quartet.io");
  await eventually(async () => {
    const live = await manager.manager.client.list(kind, { namespace: stage.namespace });
    const cached = echoInformer.list();
    const versions = (
      items: readonly { metadata: { name?: string; resourceVersion?: string } }[],
    ): string[] => items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();
    expect(versions(cached)).toEqual(versions(live.items));
  });
  expect((await manager.manager.cache.get(kind, key))?.spec.text).toBe("199");
  // No garbage collector runs here, so each Echo that ever was has its one ConfigMap.
  const configMaps = await stage.client.ok<{ items: ConfigMap[] }>(
    "GET",
    `/api/v1/namespaces/${stage.namespace}/configmaps`,
  );
  expect(configMaps.items.map(({ metadata }) => metadata.name)).toEqual(
    Array.from({ length: 10 }, (_, index) => `e-${index}-out`),
  );
}, 180_000);

const MANY = 3_000;

it(`core A6 CORE-161 CORE-163 without WatchList ${MANY} Echoes come by pages of 500, the fallback is logged once, readyz is 200`, async () => {
  await open({ featureGates: { WatchList: false }, benchmark: true });
  await createMany(MANY, (index) => `e-${index}`);
  const began = Date.now();
  const manager = await stage.start();
  await manager.ready;
  const lists = (await stage.requests(began)).filter(
    ({ verb, resource, code }) => verb === "list" && resource === "echoes" && code === 200,
  );
  expect(lists).toHaveLength(MANY / 500);
  expect(manager.log.filter(({ msg }) => /page by page/.test(String(msg)))).toHaveLength(1);
}, 180_000);

/** A watch of a busy kind gets a bookmark a minute. */
const BOOKMARK_AFTER_S = 66;

it("core A5 CORE-170 (long) both a busy and an idle watch that fall silent are opened again within 80 s, without a list", async () => {
  await open();
  for (const name of ["busy", "idle"]) await echoes.create(name, { text: "before" });
  const first = await stage.start();
  for (const name of ["busy", "idle"]) await echoes.ready(name);
  await first.stop();
  // The ConfigMaps of the test are at rest from here on, so their watch gets a bookmark only where the server writes
  // one of its own.
  const manager = await stage.start();
  await manager.ready;
  for (let second = 0; second < BOOKMARK_AFTER_S; second += 3) {
    await echoes.merge("busy", { metadata: { labels: { second: `${second}` } } });
    await sleep(3_000);
  }
  const lists = await manager.metric("quartet_reflector_lists_total");
  const silent = await manager.metric("quartet_reflector_last_contact_seconds", 'resource="configmaps"');
  const bookmarked = silent < BOOKMARK_AFTER_S - 10;
  expect(stage.proxy.freeze({ watch: true })).toBe(2);
  const frozen = Date.now();
  await echoes.merge("busy", { spec: { text: "after" } });
  await stage.client.ok("DELETE", echoes.outPath("idle"));
  await eventually(async () => {
    expect((await echoes.out("busy"))?.data?.text).toBe("after");
    expect(await echoes.out("idle")).toBeDefined();
  }, 90_000);
  expect(Date.now() - frozen).toBeLessThan(80_000);
  const stalls = (resource: string): Promise<number> =>
    manager.metric("quartet_reflector_stalls_total", `resource="${resource}"`);
  expect([await stalls("echoes"), await stalls("configmaps")]).toEqual([1, bookmarked ? 1 : 0]);
  expect(await manager.metric("quartet_reflector_lists_total")).toBe(lists);
}, 240_000);

it("CORE-311 with OwnerReferencesPermissionEnforcement the printed rights let children name their owner, and none less do", async () => {
  await open({ apiserverArgs: ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"] });
  const module = createEchoModule();
  const rights = module.rights.filter(({ subresource }) => subresource !== "finalizers");
  const less = { ...module, rights };
  await echoes.create("a", { text: "hello" });
  const manager = await stage.start({ modules: [less] });
  const errors = (): string =>
    manager.log
      .filter(({ msg }) => msg === "Reconciler error")
      .map(({ error }) => String(error))
      .join("\n");
  await eventually(() => expect(errors()).toContain("blockOwnerDeletion"));
  expect(await echoes.out("a")).toBeUndefined();
  await stage.grant([module]);
  await echoes.ready("a");
}, 90_000);
