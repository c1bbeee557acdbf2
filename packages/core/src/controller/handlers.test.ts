import { afterEach, beforeEach, expect, it } from "vitest";
import { thing, things } from "../cache/fixtures.testkit.ts";
import { openScene, recorder, type Scene } from "./scene.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

it("CORE-224 a controller's own status write does not queue its object, a change of its spec does", async () => {
  const { keys, reconcile } = recorder();
  await scene.start(scene.builder().for(things).complete(reconcile));
  const put = async (generation: number, status: object): Promise<string[]> => {
    const object = thing("a", { metadata: { name: "a", namespace: "t", generation } });
    scene.server.put({ ...object, ...{ status } });
    await scene.clock.flush();
    return keys.splice(0);
  };
  expect(await put(1, {})).toEqual(["t/a"]);
  expect(await put(1, { ready: true })).toEqual([]);
  expect(await put(2, { ready: true })).toEqual(["t/a"]);
});

it("CORE-223 an event whose predicate throws is passed, and the error logged", async () => {
  const { keys, reconcile } = recorder();
  const predicate = (): boolean => {
    throw new Error("cannot tell");
  };
  await scene.start(
    scene
      .builder()
      .for(things, { predicates: [predicate] })
      .complete(reconcile),
  );
  scene.server.put(thing("a", { namespace: "t" }));
  await scene.clock.flush();
  expect(keys).toEqual(["t/a"]);
  expect(scene.logged("predicate failed, event passed")).toHaveLength(1);
});

it("CORE-239 an object that is being deleted is reconciled like any other", async () => {
  const { keys, reconcile } = recorder();
  await scene.start(scene.builder().for(things).complete(reconcile));
  const metadata = { name: "a", namespace: "t", finalizers: ["x.io/a"] };
  scene.server.put(thing("a", { metadata }));
  await scene.clock.flush();
  scene.server.put(thing("a", { metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }));
  await scene.clock.flush();
  scene.server.remove({ namespace: "t", name: "a" });
  await scene.clock.flush();
  expect(keys).toEqual(["t/a", "t/a", "t/a"]);
});
