import { describe, expect, it } from "vitest";
import { type Thing, thing, things } from "./fixtures.testkit.ts";
import { mutable } from "./guard.ts";
import { type Harness, harness } from "./harness.testkit.ts";
import type { Informer } from "./types.ts";

const X = { namespace: "a", name: "x" };
const Y = { namespace: "a", name: "y" };

/** A cache that has synced, whose watch then lags behind: what the test writes is seen only after `release`. */
async function lagging(options?: Parameters<Harness["watch"]>[0]) {
  const test = harness();
  test.server.put(thing("x", { spec: { text: "old" }, metadata: { labels: { app: "web" } } }));
  const { informer, events } = test.watch(options);
  informer.addIndex("text", (object) => [object.spec?.text ?? ""]);
  await test.clock.flush();
  test.server.hold();
  const write = (object: Thing): Thing => {
    const stored = test.server.put(object);
    test.cache.overlay(
      things,
      { namespace: object.metadata.namespace!, name: object.metadata.name! },
      stored,
    );
    return stored;
  };
  return { ...test, informer, events, write };
}

const texts = (informer: Informer<Thing>): (string | undefined)[] =>
  informer
    .list()
    .map(({ spec }) => spec?.text)
    .sort();

describe("read-your-writes", () => {
  it("CORE-185 an update shows in get, list and indexes before the watch brings it", async () => {
    const { clock, server, cache, informer, events, write } = await lagging();
    write(thing("x", { spec: { text: "new" } }));
    expect(informer.get(X)?.spec?.text).toBe("new");
    expect((await cache.get(things, X))?.spec?.text).toBe("new");
    expect(texts(informer)).toEqual(["new"]);
    expect(informer.byIndex("text", "new")).toHaveLength(1);
    expect(informer.byIndex("text", "old")).toEqual([]);
    expect(events, "handlers hear of the watch alone").toEqual(["add a/x (initial)"]);
    server.release();
    await clock.flush();
    expect(events).toEqual(["add a/x (initial)", "update a/x"]);
    expect(texts(informer)).toEqual(["new"]);
    expect(clock.pending, "only the silence timer is left").toBe(1);
  });

  it("CORE-185 a created object shows, and a later change by somebody else replaces it", async () => {
    const { clock, server, cache, informer, write } = await lagging();
    write(thing("y", { spec: { text: "mine" } }));
    expect(texts(informer)).toEqual(["mine", "old"]);
    expect(await cache.list(things, { namespace: "a" })).toHaveLength(2);
    expect(await cache.list(things, { namespace: "b" })).toHaveLength(0);
    server.put(thing("y", { spec: { text: "theirs" } }));
    server.release();
    await clock.flush();
    expect(texts(informer)).toEqual(["old", "theirs"]);
    expect(informer.byIndex("text", "mine")).toEqual([]);
  });

  it("CORE-185 a deleted object is hidden, and one that is only marked shows its deletionTimestamp", async () => {
    const { clock, server, cache, informer, observed, write } = await lagging();
    write(thing("x", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["q.io/f"] } }));
    expect(informer.get(X)?.metadata.deletionTimestamp).toBe("2026-01-01T00:00:00Z");
    server.remove(X);
    cache.overlay(things, X, "deleted");
    expect([informer.get(X), informer.list(), informer.byIndex("text", "old")]).toEqual([undefined, [], []]);
    server.release();
    await clock.advance(30_000);
    expect(informer.get(X)).toBeUndefined();
    expect(observed, "the deletion came").not.toContain("overlay expired");
    server.put(thing("x", { spec: { text: "again" } }));
    await clock.flush();
    expect(texts(informer)).toEqual(["again"]);
  });

  it("CORE-185 ends when a bookmark has passed the write, though no event of it came", async () => {
    const { clock, server, informer, write } = await lagging();
    write(thing("y", { spec: { text: "mine" } }));
    server.remove(Y);
    server.watches()[0]!.bookmark();
    await clock.flush();
    expect(texts(informer)).toEqual(["old"]);
  });

  it("CORE-185 gives up after 30 s, counts it, and goes back to what the watch says", async () => {
    const { clock, informer, observed, write } = await lagging();
    write(thing("x", { spec: { text: "new" } }));
    await clock.advance(29_999);
    expect(texts(informer)).toEqual(["new"]);
    await clock.advance(1);
    expect(texts(informer)).toEqual(["old"]);
    expect(informer.byIndex("text", "old")).toHaveLength(1);
    expect(observed.filter((what) => what === "overlay expired")).toHaveLength(1);
  });

  it("keeps its own copy of what was written", async () => {
    const { informer, write } = await lagging();
    const stored = write(thing("x", { spec: { text: "new" } }));
    stored.spec!.text = "changed by the writer";
    expect(informer.get(X)?.spec?.text).toBe("new");
    const cached = informer.get(X) as Thing;
    expect(() => {
      cached.spec!.text = "changed by a reader";
    }).toThrow(TypeError);
    expect(mutable(cached).spec).toEqual({ text: "new" });
  });

  it("CORE-186 reads live what cannot be compared, in get and list", async () => {
    const { clock, server, cache, informer } = await lagging();
    server.put(thing("x", { spec: { text: "live" }, metadata: { labels: { app: "api" } } }));
    const odd = thing("x", { metadata: { resourceVersion: "v7" } });
    cache.overlay(things, X, odd);
    expect(informer.get(X)?.spec?.text).toBe("old");
    expect((await cache.get(things, X))?.spec?.text).toBe("live");
    expect((await cache.list(things)).map(({ spec }) => spec?.text)).toEqual(["live"]);
    expect(await cache.list(things, { labels: { app: "web" } })).toEqual([]);
    expect(await cache.list(things, { labels: { app: "api" } })).toHaveLength(1);
    server.remove(X);
    expect(await cache.get(things, X)).toBeUndefined();
    expect(await cache.list(things)).toEqual([]);
    await clock.advance(30_000);
    const gets = server.seen.filter(({ verb }) => verb === "get").length;
    await cache.get(things, X);
    expect(server.seen.filter(({ verb }) => verb === "get")).toHaveLength(gets);
  });

  it("respects the informer's selectors and projection", async () => {
    const { informer, write } = await lagging({
      labelSelector: "app=web",
      projection: { name: "bare", transform: ({ data: _, ...rest }) => rest },
    });
    write(thing("y", { metadata: { labels: { app: "api" } } }));
    expect(informer.get(Y)).toBeUndefined();
    write(thing("y", { metadata: { labels: { app: "web" } }, data: { big: 1 } }));
    expect(informer.get(Y)).toBeDefined();
    expect(informer.get(Y)).not.toHaveProperty("data");
    write(thing("x", { metadata: { labels: { app: "api" } } }));
    expect(informer.get(X), "it has left the selector").toBeUndefined();
  });

  it("takes no answer of a subresource, of another version or of another kind for the object", async () => {
    const { server, cache, informer } = await lagging();
    const scale = {
      ...thing("x", { metadata: { resourceVersion: "900" } }),
      apiVersion: "autoscaling/v1",
      kind: "Scale",
    };
    cache.overlay(things, X, scale);
    const stored = server.put(thing("x", { spec: { text: "new" } }));
    cache.overlay({ ...things, version: "v2" }, X, { ...stored, apiVersion: "test.quartet.io/v2" });
    cache.overlay({ ...things, plural: "others" }, X, "deleted");
    expect(texts(informer)).toEqual(["old"]);
  });

  it("does not outlive the change from metadata only to whole objects", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x", { spec: { text: "old" } }));
    const informer = cache.informer(things, { projection: "metadata" });
    await clock.flush();
    server.hold();
    cache.overlay(things, X, server.put(thing("x", { spec: { text: "new" } })));
    const written = informer.get(X)?.metadata.resourceVersion;
    server.finishStreams = false;
    cache.informer(things);
    await clock.flush();
    expect(informer.get(X)?.metadata.resourceVersion).not.toBe(written);
  });

  it("covers namespaces of its own only", async () => {
    const { clock, server, cache, watch } = harness({ namespaces: ["a", "b"] });
    const { informer } = watch();
    await clock.flush();
    server.hold();
    for (const namespace of ["b", "c"]) {
      cache.overlay(things, { namespace, name: "n" }, server.put(thing("n", { namespace })));
    }
    expect(informer.list().map(({ metadata }) => metadata.namespace)).toEqual(["b"]);
  });

  it("survives a list that is older than the write, and ends with one that is not", async () => {
    const { clock, server, informer, write } = await lagging();
    write(thing("y", { spec: { text: "mine" } }));
    server.compact();
    server.watches()[0]!.fail(new Error("cut"));
    await clock.advance(1_000);
    expect(texts(informer)).toEqual(["mine", "old"]);
    expect(clock.pending).toBe(1);
  });
});
