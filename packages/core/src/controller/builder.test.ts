import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import { resourceVersionChanged } from "./predicates.ts";
import { endless, openScene, recorder, type Scene } from "./scene.testkit.ts";
import type { Reconcile } from "./types.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const nothing: Reconcile = async () => {};
const builder = (name?: string) => scene.builder(name);

it.each<[string, () => unknown, RegExp]>([
  ["`for` twice", () => builder().for(things).for(things), /"echo": `for` is called twice/],
  ["`owns` without `for`", () => builder().owns(things).complete(nothing), /"echo": `owns` needs `for`/],
  ["no source", () => builder().complete(nothing), /"echo": it has no source/],
  ["a bad name", () => builder("Echo_1"), /"Echo_1": its name must match/],
  ["a name that is taken", () => [builder(), builder()], /"echo": there is one of this name already/],
])("CORE-220 refuses %s and names the controller", (_what, build, message) => {
  expect(build).toThrow(message);
});

it("refuses a finalizer without `for`, a second one, and one without a domain", () => {
  const watching = (name: string) => builder(name).watches(things, () => []);
  expect(() =>
    watching("a")
      .finalizer("x.io/a", nothing as never)
      .complete(nothing),
  ).toThrow(/"a": `finalizer` needs `for`/);
  expect(() =>
    builder("b")
      .for(things)
      .finalizer("x.io/a", nothing as never)
      .finalizer("x.io/b", nothing as never),
  ).toThrow(/"b": `finalizer` is called twice/);
  expect(() =>
    builder("c")
      .for(things)
      .finalizer("cleanup", nothing as never)
      .complete(nothing),
  ).toThrow(/"cleanup" must be domain\/name/);
});

describe("options", () => {
  it("CORE-220 CORE-223 predicates of the builder filter the events of every source, and not the cache", async () => {
    const { keys, reconcile } = recorder();
    const parts = { ...things, kind: "Part", plural: "parts" };
    const controller = builder()
      .for(things, { predicates: [resourceVersionChanged] })
      .watches(parts, () => [{ namespace: "m", name: "part" }])
      .withPredicates(({ object }) => object.metadata.name !== "hidden")
      .complete(reconcile);
    await scene.start(controller);
    for (const name of ["hidden", "shown"]) {
      scene.server.put(thing(name, { namespace: "t" }));
      scene.server.put(thing(name, { namespace: "t", kind: "Part" }), parts);
      await scene.clock.flush();
      expect(await scene.cache.get(things, { namespace: "t", name })).toBeDefined();
    }
    expect(keys).toEqual(["t/shown", "m/part"]);
  });

  it("CORE-213 takes a rate limiter and priorities of a controller's own", async () => {
    const { keys, reconcile } = recorder(async () => {
      throw new Error("boom");
    });
    const limiter = { delayFor: () => 7000, failures: () => 3, forget: () => {} };
    scene.server.put(thing("a", { namespace: "t", spec: { size: 1 } }));
    scene.server.put(thing("b", { namespace: "t", spec: { size: 9 } }));
    const controller = builder()
      .for(things)
      .withQueue({
        rateLimiter: () => limiter,
        priority: ({ object }) => (object as Thing).spec?.size ?? 0,
      })
      .withOptions({ maxConcurrentReconciles: 1 })
      .complete(reconcile);
    await scene.start(controller);
    expect(keys).toEqual(["t/b", "t/a"]);
    await scene.clock.advance(6999);
    expect(keys).toHaveLength(2);
    await scene.clock.advance(1);
    expect(keys).toHaveLength(4);
  });

  it("CORE-233 runs as many keys at a time as the controller says, or else as many as by default", async () => {
    const own = endless();
    const usual = endless();
    const first = builder("own").for(things).withOptions({ maxConcurrentReconciles: 3 });
    for (const controller of [
      first.complete(own.reconcile),
      builder().for(things).complete(usual.reconcile),
    ]) {
      await scene.start(controller);
      for (let i = 0; i < 10; i += 1) controller.enqueue({ namespace: "t", name: `n${i}` });
    }
    await scene.clock.flush();
    expect(own.keys).toHaveLength(3);
    expect(usual.keys).toHaveLength(4);
    own.end();
    usual.end();
    await scene.clock.flush();
    expect(own.keys).toHaveLength(6);
    expect(usual.keys).toHaveLength(8);
    for (let i = 0; i < 3; i += 1) {
      own.end();
      usual.end();
      await scene.clock.flush();
    }
  });

  it("CORE-233 the number of concurrent reconciles can be changed while they run", async () => {
    const { keys, reconcile, end } = endless();
    const controller = builder().for(things).complete(reconcile);
    await scene.start(controller);
    for (let i = 0; i < 20; i += 1) controller.enqueue({ namespace: "t", name: `n${i}` });
    await scene.clock.flush();
    controller.setMaxConcurrentReconciles(6);
    await scene.clock.flush();
    expect(keys).toHaveLength(6);
    expect(controller.options.maxConcurrentReconciles).toBe(6);
    controller.setMaxConcurrentReconciles(1);
    end();
    await scene.clock.flush();
    expect(keys).toHaveLength(7);
    end();
    await scene.clock.flush();
    expect(keys).toHaveLength(8);
    end();
  });
});
