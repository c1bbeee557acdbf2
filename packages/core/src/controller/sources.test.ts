import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCache } from "../cache/cache.ts";
import { apiError, memoryLog, type Thing, thing, things, worlds } from "../cache/fixtures.testkit.ts";
import type { Kind, ObjectKey } from "../object.ts";
import { LOW_PRIORITY } from "../queue/types.ts";
import { openScene, recorder, type Scene } from "./scene.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

const parts: Kind<Thing> = { ...things, kind: "Part", plural: "parts" };

/** Refuses what the cache asks for until `accept`. */
function refuseAll(error: unknown): void {
  scene.server.refuse("watch", error, 10_000);
  scene.server.refuse("list", error, 10_000);
}

describe("start", () => {
  it("CORE-235 reconciles nothing before all its informers are synced, then what is there", async () => {
    scene.server.put(thing("a", { namespace: "t" }));
    refuseAll(apiError(500, "not now"));
    const { keys, contexts, reconcile } = recorder();
    await scene.start(scene.builder().for(things).owns(worlds).complete(reconcile));
    expect(keys).toEqual([]);
    scene.server.accept();
    await scene.clock.advance(60_000);
    expect(keys).toEqual(["t/a"]);
    expect(contexts[0]?.priority).toBe(LOW_PRIORITY);
  });

  it("CORE-260 a controller that is only warmed up has its caches and reconciles nothing", async () => {
    scene.server.put(thing("a", { namespace: "t" }));
    const { keys, reconcile } = recorder();
    const controller = scene.builder().for(things).complete(reconcile);
    controller.warmUp();
    await scene.clock.advance(1000);
    expect(scene.server.watches()).toHaveLength(1);
    expect(keys).toEqual([]);
    await scene.start(controller);
    expect(keys).toEqual(["t/a"]);
    expect(scene.server.watches()).toHaveLength(1);
  });

  it("CORE-184 CORE-235 fails alone, with the kind and its last error, and starts when the kind can be listed", async () => {
    scene.server.put(thing("a", { namespace: "t" }));
    refuseAll(apiError(500, "etcd is on fire"));
    const { keys, reconcile } = recorder();
    const controller = scene.builder().for(things).complete(reconcile);
    await scene.start(controller);
    await scene.clock.advance(119_000);
    expect(controller.state).toBe("Syncing");
    await scene.clock.advance(2000);
    const message = /"echo": caches did not sync in time: Thing of .*etcd is on fire/;
    expect(controller.state).toBe("Failed");
    expect(controller.problem).toMatch(message);
    expect(scene.logged("controller waits for its caches").map(({ fields }) => String(fields.error))).toEqual(
      [expect.stringMatching(message)],
    );
    await scene.clock.advance(3_600_000);
    expect([controller.state, keys]).toEqual(["Failed", []]);
    scene.server.accept();
    await scene.clock.advance(60_000);
    expect([controller.state, controller.problem, keys]).toEqual(["Running", undefined, ["t/a"]]);
  });

  it("CORE-210 CORE-260 a standby keeps no key, and is told of what is there when it leads", async () => {
    const { keys, reconcile } = recorder();
    const controller = scene.builder().for(things).complete(reconcile);
    controller.warmUp();
    await scene.clock.flush();
    for (let i = 0; i < 50; i += 1) {
      scene.server.put(thing(`gone-${i}`, { namespace: "t" }));
      scene.server.remove({ namespace: "t", name: `gone-${i}` });
    }
    scene.server.put(thing("a", { namespace: "t" }));
    await scene.clock.flush();
    expect(controller.explain({ namespace: "t", name: "a" })).toMatchObject({ queueLength: 0 });
    await scene.start(controller);
    expect(keys).toEqual(["t/a"]);
  });

  it("CORE-222 CORE-235 runs no map function before all that it may read is there", async () => {
    const { server } = scene;
    server.put(thing("p", { namespace: "t", kind: "Part" }), parts);
    const slow = { ...server.client };
    let held = true;
    for (const verb of ["watch", "pages"] as const) {
      const call = server.client[verb].bind(server.client) as (
        kind: Kind,
        options: never,
      ) => AsyncIterable<never>;
      slow[verb] = ((kind: Kind, options: never) =>
        held && kind.kind === "Thing"
          ? { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(apiError(500)) }) }
          : call(kind, options)) as never;
    }
    const cache = createCache({ client: slow, clock: scene.clock, log: memoryLog().log });
    server.put(thing("user", { namespace: "t", spec: { owner: "p" } }));
    const { keys, reconcile } = recorder();
    const controller = scene
      .builder("echo", { cache })
      .for(things)
      .index(things, "owner", ({ spec }) => [spec?.owner ?? ""])
      .watches(parts, ({ metadata }, { byIndex }) =>
        byIndex(things, "owner", metadata.name!).map((user) => ({
          namespace: "m",
          name: user.metadata.name!,
        })),
      )
      .complete(reconcile);
    await scene.start(controller);
    await scene.clock.advance(10_000);
    held = false;
    await scene.clock.advance(60_000);
    expect(keys.sort()).toEqual(["m/user", "t/user"]);
    await cache.stop();
  });

  it("CORE-182 begins whole or not at all: what cannot be set up is told, given back, and tried again", async () => {
    scene.server.put(thing("a", { namespace: "t", spec: { owner: "x" } }));
    let broken = true;
    const { keys, reconcile } = recorder();
    const controller = scene
      .builder()
      .for(things)
      .index(things, "owner", ({ spec }) => {
        if (broken) throw new Error("no owner");
        return [spec?.owner ?? ""];
      })
      .complete(reconcile);
    const other = recorder();
    const neighbour = scene.builder("neighbour").for(things).complete(other.reconcile);
    await scene.start(controller);
    await scene.start(neighbour);
    expect([controller.state, neighbour.state]).toEqual(["Failed", "Running"]);
    expect(controller.problem).toContain('index "echo/owner" of things.v1.test.quartet.io failed for t/a');
    await scene.clock.advance(1_000 + 2_000);
    expect(
      scene.logged("controller cannot be set up, trying again").map(({ fields }) => fields.pauseMs),
    ).toEqual([1_000, 2_000, 4_000]);
    expect([keys, other.keys]).toEqual([[], ["t/a"]]);
    broken = false;
    await scene.clock.advance(4_000);
    expect([controller.state, keys]).toEqual(["Running", ["t/a"]]);
    broken = true;
    scene.server.put(thing("b", { namespace: "t" }));
    await scene.clock.flush();
    expect([controller.state, keys]).toEqual(["Running", ["t/a", "t/b"]]);
    await controller.stop(0);
    await neighbour.stop(0);
    expect(scene.cache.informers()).toEqual([]);
  });

  it("CORE-182 an index belongs to its controller: two of one name over one kind are no clash", async () => {
    scene.server.put(thing("a", { namespace: "t", spec: { owner: "x", size: 1 } }));
    const found: string[] = [];
    const finding = (name: string, value: string) =>
      recorder(async (_key, { cache }) => {
        found.push(...cache.byIndex(things, "by", value).map(({ metadata }) => `${name} ${metadata.name}`));
        return undefined;
      }).reconcile;
    const first = scene
      .builder("first")
      .for(things)
      .index(things, "by", ({ spec }) => [spec?.owner ?? ""]);
    const second = scene
      .builder("second")
      .for(things)
      .index(things, "by", ({ spec }) => [`${spec?.size}`]);
    await scene.start(first.complete(finding("first", "x")));
    await scene.start(second.complete(finding("second", "1")));
    expect(found).toEqual(["first a", "second a"]);
    expect(scene.cache.informers()).toHaveLength(1);
  });

  it("CORE-172 CORE-224 reconciles an object that was replaced by one of the same name while the watch was down", async () => {
    scene.server.put(thing("a", { namespace: "t", metadata: { generation: 1 } }));
    const { keys, reconcile } = recorder();
    await scene.start(scene.builder().for(things).complete(reconcile));
    expect(keys).toEqual(["t/a"]);
    scene.server.refuse("watch", apiError(503), 1);
    scene.server.cut();
    scene.server.remove({ namespace: "t", name: "a" });
    scene.server.put(thing("a", { namespace: "t", metadata: { generation: 1 } }));
    scene.server.compact();
    await scene.clock.advance(10_000);
    expect(keys).toEqual(["t/a", "t/a"]);
  });

  it("CORE-183 a reconcile reads what its controller declared, and no other kind", async () => {
    scene.server.put(thing("a", { namespace: "t" }));
    const read: unknown[] = [];
    const { reconcile } = recorder(async (key, { cache }) => {
      read.push((await cache.get(things, key))?.metadata.name, (await cache.list(things)).length);
      await cache.get(parts, key).catch((error: Error) => read.push(error.message));
      return undefined;
    });
    await scene.start(scene.builder().for(things).complete(reconcile));
    const refused = "parts.v1.test.quartet.io is not cached; echo must declare it as a source";
    expect(read).toEqual(["a", 1, refused]);
    expect(scene.cache.informers()).toHaveLength(1);
  });

  it("CORE-234 a source added while it runs starts at once, and its first list is not waited for", async () => {
    const { keys, reconcile } = recorder();
    const controller = scene.builder().for(things).complete(reconcile);
    await scene.start(controller);
    scene.server.put(thing("p", { namespace: "t", kind: "Part" }), parts);
    refuseAll(apiError(500, "not now"));
    const remove = controller.watch(parts, () => [{ namespace: "m", name: "part" }]);
    expect(controller.sources.map(({ kind }) => kind.kind)).toEqual(["Thing", "Part"]);
    controller.enqueue({ namespace: "t", name: "by-hand" });
    await scene.clock.flush();
    expect(keys.splice(0)).toEqual(["t/by-hand"]);
    expect(controller.state).toBe("Running");
    scene.server.accept();
    await scene.clock.advance(60_000);
    expect(keys.splice(0)).toEqual(["m/part"]);
    remove();
    scene.server.put(thing("q", { namespace: "t", kind: "Part" }), parts);
    await scene.clock.flush();
    expect(keys).toEqual([]);
    expect(scene.server.watches()).toHaveLength(1);
    expect(controller.sources).toHaveLength(1);
  });
});

describe("owners", () => {
  const reference = (name: string, more: object = {}) => ({
    apiVersion: `${things.group}/v9`,
    kind: "Thing",
    name,
    uid: name,
    controller: true,
    ...more,
  });
  const child = (name: string, ownerReferences: object[]): Thing => ({
    ...thing(name, { namespace: "t", kind: "Part" }),
    metadata: { name, namespace: "t", ownerReferences: ownerReferences as never },
  });

  it("CORE-221 queues the controlling owner of old and new object, at any version of its group and kind", async () => {
    const { keys, reconcile } = recorder();
    await scene.start(scene.builder().for(things).owns(parts).complete(reconcile));
    const put = async (object: Thing): Promise<string[]> => {
      scene.server.put(object, parts);
      await scene.clock.flush();
      return keys.splice(0).sort();
    };
    expect(await put(child("p", [reference("a"), reference("b", { controller: false })]))).toEqual(["t/a"]);
    expect(await put(child("p", [reference("c")]))).toEqual(["t/a", "t/c"]);
    expect(await put(child("q", [reference("d", { apiVersion: "other.io/v1" })]))).toEqual([]);
    expect(await put(child("r", [reference("d", { kind: "World" })]))).toEqual([]);
  });

  it("CORE-221 queues every owner if asked, and a cluster-scoped one without a namespace", async () => {
    const { keys, reconcile } = recorder();
    const world = { ...reference("w", { controller: false }), kind: "World" };
    await scene.start(scene.builder().for(worlds).owns(parts, { matchEveryOwner: true }).complete(reconcile));
    scene.server.put(child("p", [world, reference("a")]), parts);
    await scene.clock.flush();
    expect(keys).toEqual(["w"]);
  });
});

describe("map functions", () => {
  const ownerOf = (object: { readonly spec?: { readonly owner?: string } }): ObjectKey[] => [
    { namespace: "m", name: object.spec?.owner ?? "none" },
    { namespace: "m", name: "always" },
  ];

  it("CORE-222 runs on the old and the new object and queues each key once, also when it is asynchronous", async () => {
    const { keys, reconcile } = recorder();
    const later = async (object: Parameters<typeof ownerOf>[0]): Promise<ObjectKey[]> => ownerOf(object);
    await scene.start(scene.builder().watches(things, ownerOf).watches(parts, later).complete(reconcile));
    for (const kind of [things, parts]) {
      scene.server.put(thing("a", { namespace: "t", kind: kind.kind, spec: { owner: "x" } }), kind);
      await scene.clock.flush();
      expect(keys.splice(0).sort()).toEqual(["m/always", "m/x"]);
      scene.server.put(thing("a", { namespace: "t", kind: kind.kind, spec: { owner: "y" } }), kind);
      await scene.clock.flush();
      expect(keys.splice(0).sort()).toEqual(["m/always", "m/x", "m/y"]);
    }
  });

  it("CORE-222 an asynchronous one whose keys cannot be queued is tried again, and ends in no unhandled rejection", async () => {
    const { keys, reconcile } = recorder();
    let calls = 0;
    const map = async (): Promise<ObjectKey[]> => {
      calls += 1;
      return calls < 3 ? (undefined as never) : [{ namespace: "m", name: "x" }];
    };
    await scene.start(scene.builder().watches(things, map).complete(reconcile));
    scene.server.put(thing("a", { namespace: "t" }));
    await scene.clock.advance(1_000);
    expect(keys).toEqual(["m/x"]);
  });

  it("CORE-222 tries one that throws five times more, then tells and counts that the event is lost", async () => {
    let failures = 5;
    let calls = 0;
    const { keys, reconcile } = recorder();
    const map = (object: Parameters<typeof ownerOf>[0]): ObjectKey[] => {
      calls += 1;
      if (failures === 0) return ownerOf(object);
      failures -= 1;
      throw new Error("not yet");
    };
    await scene.start(scene.builder().watches(things, map).complete(reconcile));
    scene.server.put(thing("a", { namespace: "t", spec: { owner: "x" } }));
    await scene.clock.advance(10 + 40 + 160 + 640 + 999);
    expect(keys).toEqual([]);
    await scene.clock.advance(1);
    expect(keys.splice(0)).toEqual(["m/x", "m/always"]);
    failures = 100;
    calls = 0;
    scene.server.put(thing("b", { namespace: "t", spec: { owner: "z" } }));
    await scene.clock.advance(60_000);
    expect(keys).toEqual([]);
    expect(calls).toBe(6);
    expect(scene.logged("map function failed, event lost").map(({ fields }) => fields.object)).toEqual([
      "t/b",
    ]);
    expect(scene.counts.lost).toBe(1);
  });
});
