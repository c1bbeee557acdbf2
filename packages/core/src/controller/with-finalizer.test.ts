import { afterEach, beforeEach, expect, it } from "vitest";
import { type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import type { ObjectKey, ObjectMeta } from "../object.ts";
import { openScene, recorder, type Scene } from "./scene.testkit.ts";

const NAME = "test.quartet.io/outside";
const KEY: ObjectKey = { namespace: "t", name: "a" };

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const put = (more: ObjectMeta = {}): Thing => scene.server.put(thing("a", { metadata: { ...KEY, ...more } }));

/** The fake server's client with patches of finalizers. */
function client(): Client {
  const patch: Client["patch"] = async (_kind, key, change) => {
    const { metadata } = await scene.server.client.get(things, key);
    const [, operation] = (change as { operations: { op: string; value?: string[] }[] }).operations;
    const finalizers = operation?.op === "add" ? operation.value! : [];
    if (metadata.deletionTimestamp === undefined || finalizers.length > 0) {
      return put({ ...metadata, finalizers }) as never;
    }
    scene.server.remove(key);
    return thing("a") as never;
  };
  return { ...scene.server.client, patch };
}

const acting = () => ({ outlets: () => ({ ...scene.deps.outlets(true), client: client() }) });

it("CORE-239 CORE-305 the builder's finalizer is on an object before its reconcile runs", async () => {
  const seen: (readonly string[] | undefined)[] = [];
  const { keys, reconcile } = recorder(async (key, ctx) => {
    seen.push((await ctx.cache.get(things, key))?.metadata.finalizers);
    return undefined;
  });
  const controller = scene
    .builder("echo", acting())
    .for(things)
    .finalizer(NAME, async () => {});
  await scene.start(controller.complete(reconcile));
  put();
  await scene.clock.flush();
  expect(keys).toEqual(["t/a"]);
  expect(seen).toEqual([[NAME]]);
});

it("CORE-239 CORE-306 its cleanup is tried until it succeeds, then the object goes and the reconcile hears of it", async () => {
  const cleaned: string[] = [];
  const { keys, reconcile } = recorder();
  const controller = scene
    .builder("echo", acting())
    .for(things)
    .finalizer(NAME, async (object, { attempt }) => {
      cleaned.push(`${object.metadata.name} ${attempt}`);
      if (attempt < 2) throw new Error("outside is down");
    })
    .complete(reconcile);
  await scene.start(controller);
  put({ finalizers: [NAME] });
  await scene.clock.flush();
  put({ finalizers: [NAME], deletionTimestamp: "2026-01-01T00:00:00Z" });
  await scene.clock.advance(5 + 10);
  expect(cleaned).toEqual(["a 0", "a 1", "a 2"]);
  expect(scene.events.map(({ reason }) => reason)).toEqual(["CleanupFailed", "CleanupFailed"]);
  expect(await scene.cache.get(things, KEY)).toBeUndefined();
  expect(keys).toEqual(["t/a", "t/a"]);
});
