import { describe, expect, it } from "vitest";
import { type Thing, thing, things } from "../fixtures.testkit.ts";
import { describe as describeEvent, harness } from "../harness.testkit.ts";
import type { CacheEvent } from "../types.ts";
import { CONTROLLER_INDEX, controlledBy, NAMESPACE_INDEX } from "./informer.ts";

const names = (objects: readonly { metadata: { name?: string } }[]): string[] =>
  objects.map(({ metadata }) => metadata.name ?? "").sort();

describe("handlers", () => {
  it("CORE-176 that come late get what is cached as synthetic adds, then the same events as all", async () => {
    const { clock, server, watch, requests } = harness();
    server.put(thing("x"));
    const early = watch();
    await clock.flush();
    const late = watch();
    expect(late.events).toEqual(["add a/x (initial)"]);
    server.put(thing("x", { spec: { text: "new" } }));
    server.put(thing("y"));
    await clock.flush();
    expect(late.events.slice(1)).toEqual(["update a/x", "add a/y"]);
    expect(early.events).toEqual(late.events);
    expect(requests()).toEqual(["stream"]);
  });

  it("get old and new object of an update, and the last state of a deleted one", async () => {
    const { clock, server, cache } = harness();
    const events: CacheEvent<Thing>[] = [];
    cache.informer(things).addHandler((event) => void events.push(event));
    server.put(thing("x", { spec: { text: "1" } }));
    await clock.flush();
    server.put(thing("x", { spec: { text: "2" } }));
    server.remove({ namespace: "a", name: "x" });
    await clock.flush();
    expect(events).toMatchObject([
      { type: "add", initial: true, object: { spec: { text: "1" } } },
      { type: "update", resync: false, old: { spec: { text: "1" } }, object: { spec: { text: "2" } } },
      { type: "delete", stale: false, object: { spec: { text: "2" } } },
    ]);
  });

  it("CORE-189 hear nothing of a version that they know", async () => {
    const { clock, server, watch } = harness();
    const stored = server.put(thing("x"));
    const { events } = watch();
    await clock.flush();
    server.watches()[0]!.send({ type: "MODIFIED", object: stored });
    await clock.flush();
    expect(events).toEqual(["add a/x (initial)"]);
  });

  it("CORE-190 that throw or reject are logged and counted, and harm nobody else", async () => {
    const { clock, server, cache, watch, observed, lines } = harness();
    const informer = cache.informer(things);
    informer.addHandler(() => {
      throw new Error("handler broke");
    });
    const rejects = (): unknown => Promise.reject(new Error("handler broke later"));
    informer.addHandler(rejects);
    const { events } = watch();
    server.put(thing("x"));
    await clock.flush();
    server.put(thing("y"));
    await clock.flush();
    expect(events).toEqual(["add a/x (initial)", "add a/y"]);
    expect(observed.filter((what) => what === "handler error")).toHaveLength(4);
    const errors = lines.filter(({ level }) => level === "error");
    expect(errors).toHaveLength(4);
    expect(errors[0]).toMatchObject({ fields: { resource: "things", namespace: "a", name: "x" } });
  });

  it("hear nothing more once removed", async () => {
    const { clock, server, cache } = harness();
    const events: string[] = [];
    const remove = cache.informer(things).addHandler((event) => void events.push(describeEvent(event)));
    server.put(thing("x"));
    await clock.flush();
    remove();
    server.put(thing("y"));
    await clock.flush();
    expect(events).toEqual(["add a/x (initial)"]);
  });

  it("CORE-175 get each object again after the resync interval ± 10 %, without a request", async () => {
    for (const [random, due] of [
      [0, 0.9],
      [0.5, 1],
    ] as const) {
      const { clock, server, watch, cache } = harness({ resyncMs: 36_000_000, random: () => random });
      const { events } = watch();
      server.put(thing("x"));
      server.put(thing("y"));
      await clock.flush();
      events.length = 0;
      const before = server.seen.filter(({ verb }) => verb !== "watch").length;
      await clock.advance(36_000_000 * due - 1);
      expect(events).toEqual([]);
      await clock.advance(1);
      expect(events).toEqual(["update a/x (resync)", "update a/y (resync)"]);
      expect(
        server.seen.filter(({ verb, options }) => verb !== "watch" || options.sendInitialEvents),
      ).toHaveLength(before + 1);
      await clock.advance(36_000_000 * due);
      expect(events).toHaveLength(4);
      await cache.stop();
    }
  });

  it("CORE-175 get nothing again when resync is off", async () => {
    const { clock, watch, server } = harness({ resyncMs: 0 });
    const { events } = watch();
    server.put(thing("x"));
    await clock.advance(80 * 3_600_000);
    expect(events).toEqual(["add a/x (initial)"]);
  });
});

describe("selectors", () => {
  it("CORE-179 are sent to the server; an object that leaves them arrives as deleted", async () => {
    const { clock, server, watch } = harness();
    const labels = { app: "web" };
    server.put(thing("x", { metadata: { labels } }));
    server.put(thing("other"));
    const { informer, events } = watch({ labelSelector: "app=web", fieldSelector: "spec.text!=no" });
    await clock.flush();
    expect(server.seen[0]!.options).toMatchObject({
      labelSelector: "app=web",
      fieldSelector: "spec.text!=no",
    });
    expect(names(informer.list())).toEqual(["x"]);
    server.put(thing("x", { metadata: { labels: { app: "api" } } }));
    await clock.flush();
    expect(events).toEqual(["add a/x (initial)", "delete a/x"]);
    expect(informer.list()).toEqual([]);
  });
});

describe("indexes", () => {
  it("CORE-182 find objects by namespace, and by the UID of the controlling owner within it", async () => {
    const { clock, server, cache } = harness();
    const owner = (uid: string, controller: boolean) => ({
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Thing", name: "o", uid, controller }] },
    });
    server.put(thing("x", { ...owner("u1", true) }));
    server.put(thing("y", { namespace: "b", ...owner("u1", true) }));
    server.put(thing("z", { namespace: "b", ...owner("u1", false) }));
    const informer = cache.informer(things);
    await clock.flush();
    expect(names(informer.byIndex(NAMESPACE_INDEX, "b"))).toEqual(["y", "z"]);
    const controlled = (namespace: string, uid: string) =>
      names(informer.byIndex(CONTROLLER_INDEX, controlledBy(namespace, uid)));
    expect([controlled("a", "u1"), controlled("b", "u1")]).toEqual([["x"], ["y"]]);
    server.put(thing("x", { ...owner("u2", true) }));
    await clock.flush();
    expect([controlled("a", "u1"), controlled("b", "u1")]).toEqual([[], ["y"]]);
    expect(controlled("a", "u2")).toEqual(["x"]);
  });

  it("CORE-182 may be added before or after the first list, and follow updates, moves and deletions", async () => {
    const { clock, server, cache } = harness();
    const byText = (object: { readonly spec?: { readonly text?: string } }): string[] =>
      object.spec?.text?.split(" ") ?? [];
    const informer = cache.informer(things);
    informer.addIndex("before", byText);
    server.put(thing("x", { spec: { text: "red green" } }));
    server.put(thing("y", { spec: { text: "red" } }));
    await clock.flush();
    informer.addIndex("after", byText);
    for (const index of ["before", "after"])
      expect(names(informer.byIndex(index, "red"))).toEqual(["x", "y"]);
    server.put(thing("x", { spec: { text: "green blue" } }));
    server.remove({ namespace: "a", name: "y" });
    await clock.flush();
    for (const index of ["before", "after"]) {
      expect(names(informer.byIndex(index, "red"))).toEqual([]);
      expect(names(informer.byIndex(index, "blue"))).toEqual(["x"]);
      expect(informer.byIndex(index, "green")[0]!.spec!.text).toBe("green blue");
    }
  });

  it("CORE-182 a function that throws on the first list fails the start", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x"));
    const informer = cache.informer(things);
    informer.addIndex("broken", () => {
      throw new Error("no spec");
    });
    const synced = informer.synced();
    synced.catch(() => {});
    await clock.flush();
    await expect(synced).rejects.toThrow('index "broken" of things.v1.test.quartet.io failed for a/x');
  });

  it("CORE-182 a function that throws on cached objects when it is added is refused", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x"));
    const informer = cache.informer(things);
    await clock.flush();
    expect(() =>
      informer.addIndex("broken", () => {
        throw new Error("no spec");
      }),
    ).toThrow("failed for a/x");
    expect(() => informer.byIndex("broken", "v")).toThrow('no index "broken"');
  });

  it("CORE-182 a function that throws later leaves just that object out, and is logged", async () => {
    const { clock, server, cache, watch, lines } = harness();
    const { informer, events } = watch();
    informer.addIndex("size", (object) => {
      if (object.spec?.size === undefined) throw new Error("no size");
      return [String(object.spec.size)];
    });
    await clock.flush();
    server.put(thing("x", { spec: { size: 1 } }));
    server.put(thing("y"));
    server.put(thing("z", { spec: { size: 1 } }));
    await clock.flush();
    expect(names(informer.byIndex("size", "1"))).toEqual(["x", "z"]);
    expect(events).toHaveLength(3);
    expect(lines.filter(({ level }) => level === "error")).toMatchObject([{ fields: { name: "y" } }]);
    await expect(cache.informer(things).synced()).resolves.toBeUndefined();
  });

  it("may be added twice with the same function, not with another, nor under a built-in name", () => {
    const { cache } = harness();
    const informer = cache.informer(things);
    const fn = (): string[] => [];
    informer.addIndex("mine", fn);
    informer.addIndex("mine", fn);
    expect(() => informer.addIndex("mine", () => [])).toThrow("choose another name");
    expect(() => informer.addIndex(NAMESPACE_INDEX, fn)).toThrow("built in");
  });
});

describe("reads of an informer", () => {
  it("list by namespace and by labels", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x", { metadata: { labels: { app: "web" } } }));
    server.put(thing("y", { namespace: "b", metadata: { labels: { app: "web" } } }));
    server.put(thing("z", { namespace: "b" }));
    const informer = cache.informer(things);
    await clock.flush();
    expect(names(informer.list())).toEqual(["x", "y", "z"]);
    expect(names(informer.list({ namespace: "b" }))).toEqual(["y", "z"]);
    expect(names(informer.list({ namespace: "b", labels: { app: "web" } }))).toEqual(["y"]);
    expect(informer.get({ namespace: "b", name: "y" })?.metadata.uid).toBe("uid-2");
    expect(informer.get({ namespace: "a", name: "y" })).toBeUndefined();
  });

  it("CORE-181 throw a TypeError when their objects are written to", async () => {
    const { clock, server, watch } = harness();
    server.put(thing("x", { spec: { text: "hello" } }));
    const { informer } = watch();
    await clock.flush();
    const cached = informer.get({ namespace: "a", name: "x" }) as Thing;
    expect(() => {
      cached.spec!.text = "changed";
    }).toThrow(TypeError);
  });
});

describe("a gap in time for others", () => {
  it("is left between handlers that take long, and no event overtakes another", async () => {
    const { clock, server, cache } = harness({ clock: tickingClock() });
    for (let i = 0; i < 50; i++) server.put(thing(`x${i}`));
    const seen: string[] = [];
    let breaks = 0;
    const count = (): void => {
      breaks++;
      if (seen.length < 51) setImmediate(count);
    };
    cache.informer(things).addHandler((event) => {
      if (seen.length === 0) {
        setImmediate(count);
        server.put(thing("x0", { spec: { text: "new" } }));
      }
      seen.push(`${event.type} ${event.object.metadata.name}`);
    });
    for (let i = 0; i < 60; i++) await clock.flush();
    expect(seen).toHaveLength(51);
    expect(seen.at(-1)).toBe("update x0");
    expect(breaks).toBeGreaterThan(4);
  });
});

/** A clock on which every reading takes 1 ms. */
function tickingClock() {
  const { clock } = harness();
  let now = 0;
  return { ...clock, monotonic: () => now++ };
}
