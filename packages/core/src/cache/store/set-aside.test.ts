import { describe, expect, it } from "vitest";
import { nested } from "../../testkit/nested.ts";
import { ObjectSetAsideError } from "../errors.ts";
import { thing, things } from "../fixtures.testkit.ts";
import { harness } from "../harness.testkit.ts";

const deep = (name: string) => thing(name, { data: { deep: nested(9_000) } });

describe("an object that cannot be taken in", () => {
  it("CORE-191 is set aside alone by a list; the others are there, and the watch goes on", async () => {
    for (const streaming of [true, false]) {
      const { clock, server, watch, requests, lines, gauges } = harness();
      if (!streaming) server.minor = 30;
      server.put(thing("before"));
      server.put(deep("deep"));
      const { informer, events } = watch();
      await clock.flush();
      server.put(thing("after"));
      await clock.advance(60_000);
      expect(events).toEqual(["add a/before (initial)", "add a/after"]);
      expect(informer.state).toBe("synced");
      expect(requests()).toEqual(streaming ? ["stream"] : ["list", "watch"]);
      expect(informer.setAside()).toMatchObject([{ key: { namespace: "a", name: "deep" } }]);
      expect([...gauges].map((gauge) => gauge.setAside())).toEqual([1]);
      expect(lines.filter(({ level }) => level !== "debug")).toMatchObject([
        { level: "warn", fields: { namespace: "a", name: "deep", reason: "nested deeper than 200 levels" } },
      ]);
    }
  });

  it("CORE-191 is told once, whatever the number of its versions and of lists", async () => {
    const { clock, server, watch, lines } = harness();
    server.put(deep("deep"));
    watch();
    await clock.flush();
    server.put(deep("deep"));
    server.cut();
    await clock.flush();
    server.put(deep("deep"));
    server.compact();
    await clock.advance(2_000);
    expect(lines.filter(({ msg }) => msg.includes("set aside"))).toHaveLength(1);
  });

  it("CORE-191 leaves the version before in place, through lists too, until one comes that can be taken in", async () => {
    const { clock, server, watch } = harness();
    server.put(thing("x", { spec: { text: "first" } }));
    const { informer, events } = watch();
    await clock.flush();
    server.put(deep("x"));
    await clock.flush();
    server.cut();
    server.compact();
    await clock.advance(2_000);
    expect(informer.get({ namespace: "a", name: "x" })).toMatchObject({ spec: { text: "first" } });
    expect(informer.setAside()).toHaveLength(1);
    server.put(thing("x", { spec: { text: "second" } }));
    await clock.flush();
    expect(informer.setAside()).toEqual([]);
    expect(events).toEqual(["add a/x (initial)", "update a/x"]);
  });

  it("CORE-191 is deleted like any other, with the content that was cached", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x", { spec: { text: "first" } }));
    const informer = cache.informer(things);
    const deleted: unknown[] = [];
    informer.addHandler((event) => event.type === "delete" && deleted.push(event.object.spec));
    await clock.flush();
    server.put(deep("x"));
    server.put(deep("y"));
    await clock.flush();
    server.remove({ namespace: "a", name: "x" });
    server.remove({ namespace: "a", name: "y" });
    await clock.flush();
    expect(deleted).toEqual([{ text: "first" }]);
    expect(informer.list()).toEqual([]);
    expect(informer.setAside()).toEqual([]);
  });

  it("CORE-191 is not said to be absent: reading it fails and says why", async () => {
    const { clock, server, cache } = harness();
    server.put(deep("deep"));
    const informer = cache.informer(things);
    await clock.flush();
    await expect(cache.get(things, { namespace: "a", name: "deep" })).rejects.toThrow(ObjectSetAsideError);
    await expect(cache.get(things, { namespace: "a", name: "deep" })).rejects.toThrow(
      "things.v1.test.quartet.io a/deep cannot be cached: nested deeper than 200 levels",
    );
    expect(await cache.get(things, { namespace: "a", name: "other" })).toBeUndefined();
    expect(informer.list()).toEqual([]);
  });

  it("CORE-191 may be one that this process wrote", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x", { spec: { text: "first" } }));
    const informer = cache.informer(things);
    await clock.flush();
    const written = { ...deep("x"), metadata: { ...deep("x").metadata, uid: "u", resourceVersion: "9999" } };
    cache.overlay(things, { namespace: "a", name: "x" }, written);
    expect(informer.get({ namespace: "a", name: "x" })).toMatchObject({ spec: { text: "first" } });
  });

  it("CORE-191 does not count the managedFields, which are never kept", async () => {
    const { clock, server, watch } = harness();
    const managedFields = [{ fieldsV1: nested(9_000) }];
    server.put(thing("x", { metadata: { managedFields } }));
    const { informer } = watch();
    await clock.flush();
    expect(informer.list()).toHaveLength(1);
  });
});

describe("limits of a source", () => {
  const text = (length: number) => ({ spec: { text: "x".repeat(length) } });

  it("CORE-194 an object that is too large is set aside, and back when it has shrunk", async () => {
    const { clock, server, watch } = harness();
    server.put(thing("large", text(2_000)));
    server.put(thing("small", text(10)));
    const { informer, events } = watch({ limits: { objectBytes: 1_000 } });
    await clock.flush();
    expect(informer.setAside()).toMatchObject([{ key: { name: "large" }, reason: "larger than 1000 bytes" }]);
    server.put(thing("large", text(20)));
    server.put(thing("small", text(3_000)));
    await clock.flush();
    expect(events).toEqual(["add a/small (initial)", "add a/large"]);
    expect(informer.setAside()).toMatchObject([{ key: { name: "small" } }]);
    expect(informer.get({ namespace: "a", name: "small" })).toMatchObject(text(10));
  });

  it("CORE-194 keeps no more than its total, in a list as in a watch, and takes more when there is room", async () => {
    const { clock, server, watch } = harness();
    for (let n = 0; n < 5; n++) server.put(thing(`t${n}`, text(1_000)));
    const { informer } = watch({ limits: { totalBytes: 3_600 } });
    await clock.flush();
    expect([informer.list().length, informer.setAside().length]).toEqual([3, 2]);
    server.put(thing("t5", text(1_000)));
    await clock.flush();
    expect([informer.list().length, informer.setAside().length]).toEqual([3, 3]);
    const [gone] = informer.list();
    server.remove({ namespace: "a", name: gone!.metadata.name! });
    server.put(thing("t6", text(1_000)));
    await clock.flush();
    expect(informer.get({ namespace: "a", name: "t6" })).toBeDefined();
    server.cut();
    server.compact();
    await clock.advance(2_000);
    expect(informer.list()).toHaveLength(3);
  });

  it("CORE-194 a namespace has one limit for all sources, and takes nothing from others", async () => {
    const { clock, server, cache, watch } = harness({ namespaceBytes: 3_600 });
    for (let n = 0; n < 3; n++) server.put(thing(`t${n}`, text(1_000)));
    server.put(thing("t", { ...text(1_000), metadata: { namespace: "b" } }));
    const { informer } = watch();
    await clock.flush();
    expect([informer.list().length, informer.setAside().length]).toEqual([4, 0]);
    const again = cache.informer(things, { labelSelector: "all!=" });
    await clock.flush();
    const reason = "with it the namespace would take more than 3600 bytes";
    expect(again.setAside()).toMatchObject(Array(3).fill({ key: { namespace: "a" }, reason }));
    expect(again.list()).toMatchObject([{ metadata: { namespace: "b" } }]);
    const beside = cache.budget();
    expect(() => beside.admit(thing("beside", text(1_000)))).toThrow(reason);

    // A new list replaces what the last one counted.
    server.cut();
    server.compact();
    await clock.advance(2_000);
    expect([informer.list().length, informer.setAside().length]).toEqual([4, 0]);
    cache.release(again);
    server.remove({ namespace: "a", name: "t0" });
    await clock.flush();
    expect(beside.admit(thing("beside", text(1_000)))).toBeDefined();
    beside.close();
    server.put(thing("t3", text(1_000)));
    await clock.flush();
    expect([informer.list().length, informer.setAside().length]).toEqual([4, 0]);
  });

  it("CORE-194 an informer with limits does not answer for the whole kind", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("large", text(2_000)));
    cache.informer(things, { limits: { objectBytes: 1_000 } });
    await expect(cache.list(things)).rejects.toMatchObject({ name: "NotCachedError" });
    cache.informer(things);
    await clock.flush();
    expect(await cache.list(things)).toHaveLength(1);
  });
});

describe("pages of lists", () => {
  it("CORE-194 are in memory four at a time, however many sources begin to list", async () => {
    const { clock, server, cache } = harness();
    server.minor = 30;
    const release = Promise.withResolvers<void>();
    const pages = server.client.pages;
    let now = 0;
    Object.assign(server.client, {
      async *pages(...args: Parameters<typeof pages>) {
        now++;
        try {
          await release.promise;
          yield* pages(...args);
        } finally {
          now--;
        }
      },
    });
    const informers = Array.from({ length: 12 }, (_, n) =>
      cache.informer(things, { labelSelector: `n=${n}` }),
    );
    await clock.flush();
    expect(now).toBe(4);
    release.resolve();
    await clock.advance(1_000);
    expect(informers.map(({ state }) => state)).toEqual(Array(12).fill("synced"));
    await cache.stop();
  });
});
