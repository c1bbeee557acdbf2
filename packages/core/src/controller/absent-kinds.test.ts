import { afterEach, beforeEach, expect, it } from "vitest";
import { createCache } from "../cache/cache.ts";
import { apiError, memoryLog, type Thing, thing, things } from "../cache/fixtures.testkit.ts";
import type { Client } from "../client/types.ts";
import type { Kind } from "../object.ts";
import { openScene, recorder, type Scene } from "./scene.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const parts: Kind<Thing> = { ...things, kind: "Part", plural: "parts" };
const missing = apiError(404, "no such kind");
const forbidden = apiError(
  403,
  'things.test.quartet.io is forbidden: User "system:serviceaccount:q:manager" cannot list resource "things" in API group "test.quartet.io" in the namespace "t"',
);

function refuseAll(error: unknown): void {
  scene.server.refuse("watch", error, 100_000);
  scene.server.refuse("list", error, 100_000);
}

/** A cache to which parts answer with an error, for as long as `error()` gives one. */
function cacheWithout(error: () => unknown): Scene {
  const { client } = scene.server;
  const failing = () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error()) }) });
  const partial = {
    ...client,
    watch: (kind: Kind, options: never) =>
      kind.kind === "Part" && error() !== undefined ? failing() : client.watch(kind, options),
    pages: (kind: Kind, options: never) =>
      kind.kind === "Part" && error() !== undefined ? failing() : client.pages(kind, options),
  } as Client;
  const cache = createCache({ client: partial, clock: scene.clock, log: memoryLog().log });
  return { ...scene, builder: (name) => scene.builder(name, { cache }) };
}

it("CORE-236 waits for a missing kind without keeping others from running, and starts when it appears", async () => {
  const { builder } = cacheWithout(() => (gone ? missing : undefined));
  let gone = true;
  scene.server.put(thing("a", { namespace: "t" }));
  scene.server.put(thing("p", { namespace: "t", kind: "Part" }), parts);
  const first = recorder();
  const second = recorder();
  const waiting = builder("waiting").for(parts).complete(first.reconcile);
  const other = builder("other").for(things).complete(second.reconcile);
  await scene.start(waiting);
  await scene.start(other);
  expect([waiting.state, other.state]).toEqual(["WaitingForCRD", "Running"]);
  expect([first.keys, second.keys]).toEqual([[], ["t/a"]]);
  await scene.clock.advance(3_600_000);
  expect(waiting.state).toBe("WaitingForCRD");
  gone = false;
  await scene.clock.advance(11_000);
  expect(waiting.state).toBe("Running");
  expect(first.keys).toEqual(["t/p"]);
});

it("CORE-236 pauses when its kind goes at run time, acts on no delete, and goes on when it is back", async () => {
  scene.server.put(thing("a", { namespace: "t" }));
  const { keys, reconcile } = recorder();
  const controller = scene.builder().for(things).complete(reconcile);
  await scene.start(controller);
  expect(keys.splice(0)).toEqual(["t/a"]);
  refuseAll(missing);
  scene.server.cut();
  await scene.clock.advance(5000);
  expect(controller.state).toBe("WaitingForCRD");
  controller.enqueue({ namespace: "t", name: "by-hand" });
  await scene.clock.advance(60_000);
  expect(keys).toEqual([]);
  scene.server.accept();
  await scene.clock.advance(15_000);
  expect(controller.state).toBe("Running");
  expect(keys).toContain("t/by-hand");
});

it.each([
  ["missing", missing],
  ["forbidden", forbidden],
])(
  "CORE-237 runs without an optional kind that is %s, warns once, and takes it in later",
  async (_what, error) => {
    const { builder } = cacheWithout(() => (gone ? error : undefined));
    let gone = true;
    scene.server.put(thing("a", { namespace: "t" }));
    scene.server.put(thing("p", { namespace: "t", kind: "Part" }), parts);
    const { keys, reconcile } = recorder();
    const controller = builder()
      .for(things)
      .watches(parts, () => [{ namespace: "m", name: "part" }], { optional: true })
      .complete(reconcile);
    await scene.start(controller);
    expect(keys.splice(0)).toEqual(["t/a"]);
    await scene.clock.advance(1_200_000);
    expect(controller.state).toBe("Running");
    const warnings = scene.lines.filter(({ level, fields }) => level === "warn" && fields.kind === "Part");
    expect(warnings).toHaveLength(1);
    gone = false;
    await scene.clock.advance(301_000);
    expect(keys).toEqual(["m/part"]);
  },
);

it("CORE-237 CORE-235 waits for the first list of an optional kind that is there", async () => {
  const { builder } = cacheWithout(() => (slow ? apiError(500, "not now") : undefined));
  let slow = true;
  scene.server.put(thing("a", { namespace: "t" }));
  const { keys, reconcile } = recorder();
  const controller = builder().for(things).owns(parts, { optional: true }).complete(reconcile);
  await scene.start(controller);
  await scene.clock.advance(30_000);
  expect(controller.state).toBe("Syncing");
  expect(keys).toEqual([]);
  slow = false;
  await scene.clock.advance(60_000);
  expect(keys).toEqual(["t/a"]);
});

it("CORE-238 names what is forbidden, tries again, and fails after two minutes until the right is there", async () => {
  const { builder } = cacheWithout(() => (flapping ? missing : undefined));
  let flapping = false;
  refuseAll(forbidden);
  const controller = builder()
    .for(things)
    .watches(parts, () => [], { optional: true })
    .complete(recorder().reconcile);
  await scene.start(controller);
  const [line] = scene.logged("error");
  expect(line?.fields.error).toBe(forbidden);
  await scene.clock.advance(60_000);
  flapping = true;
  await scene.clock.advance(59_000);
  expect(controller.state).toBe("Syncing");
  await scene.clock.advance(2000);
  expect(controller.state).toBe("Failed");
  await scene.clock.advance(600_000);
  expect(controller.state).toBe("Failed");
  scene.server.accept();
  await scene.clock.advance(30_000);
  expect(controller.state).toBe("Running");
});
