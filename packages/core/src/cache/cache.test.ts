import { describe, expect, it } from "vitest";
import { isProjected } from "../projected.ts";
import { apiError, type Thing, thing, things, worlds } from "./fixtures.testkit.ts";
import { describe as describeEvent, harness } from "./harness.testkit.ts";
import { waitForSync } from "./informer/states.ts";

const X = { namespace: "a", name: "x" };

describe("sharing", () => {
  it("CORE-176 one informer serves all who ask for the same scope", async () => {
    const { clock, cache, requests } = harness();
    const scope = { namespaces: ["b", "a"], labelSelector: "app=web" };
    const informer = cache.informer(things, scope);
    expect(cache.informer(things, { ...scope, namespaces: ["a", "b", "a"] })).toBe(informer);
    for (const other of [
      { ...scope, namespaces: ["a"] },
      { ...scope, labelSelector: "app=api" },
      { ...scope, fieldSelector: "metadata.name=x" },
      { ...scope, projection: { name: "t", transform: (object: Thing) => object } },
    ]) {
      expect(cache.informer(things, other)).not.toBe(informer);
    }
    await clock.flush();
    expect(requests()).toHaveLength(2 + 1 + 2 + 2 + 2);
  });

  it("CORE-284 the label of metrics tells the form of what is watched, and no name of anybody's", async () => {
    const { cache, gauges } = harness();
    const scopes = [
      {},
      { namespaces: ["team-a"] },
      { namespaces: ["team-a", "team-b"], labelSelector: "app=web", fieldSelector: "metadata.name=x" },
      { projection: { name: "versions", transform: (object: Thing) => object } },
    ];
    for (const scope of scopes) cache.informer(things, scope);
    expect(Array.from(gauges, ({ scope }) => scope)).toEqual([
      "",
      "namespaced",
      "namespaced labels fields",
      "transform:versions",
    ]);
  });

  it("CORE-177 whole objects also serve those who want metadata only, with a log line", async () => {
    const { clock, server, cache, requests, lines } = harness();
    server.put(thing("x", { spec: { text: "hello" } }));
    const full = cache.informer(things);
    const metadata = cache.informer(things, { projection: "metadata" });
    await clock.flush();
    expect(metadata).toBe(full);
    expect(requests()).toEqual(["stream"]);
    expect(lines.filter(({ msg }) => msg.includes("one informer serves both"))).toHaveLength(1);
  });

  it("CORE-177 metadata only becomes whole when somebody needs that, and both keep their handlers", async () => {
    const { clock, server, cache, requests } = harness();
    server.put(thing("x", { spec: { text: "hello" } }));
    const seen: string[] = [];
    const metadata = cache.informer(things, { projection: "metadata" });
    metadata.addHandler((event) => void seen.push(`metadata: ${describeEvent(event)}`));
    await clock.flush();
    expect(metadata.get(X)).not.toHaveProperty("spec");
    expect(isProjected(metadata.get(X)!)).toBe(true);

    const full = cache.informer(things);
    full.addHandler((event) => void seen.push(`full: ${describeEvent(event)} ${event.object.spec?.text}`));
    expect(full.hasSynced()).toBe(false);
    const read = cache.get(things, X);
    await clock.flush();
    expect((await read)?.spec).toEqual({ text: "hello" });
    expect(isProjected(full.get(X)!)).toBe(false);
    expect(seen).toEqual(["metadata: add a/x (initial)", "full: add a/x (initial) hello"]);

    server.put(thing("x", { spec: { text: "new" } }));
    await clock.flush();
    expect(seen.slice(2)).toEqual(["metadata: update a/x", "full: update a/x new"]);
    expect(requests()).toEqual(["stream", "stream"]);
    expect(server.watches()).toHaveLength(1);
  });

  it("CORE-177 is not taken for synced by what the metadata watch still had to say", async () => {
    const test = harness();
    let now = 0;
    const { clock, server, cache } = harness({ clock: { ...test.clock, monotonic: () => now++ } });
    for (let i = 0; i < 50; i++) server.put(thing(`x${i}`));
    const informer = cache.informer(things, { projection: "metadata" });
    let upgraded = false;
    informer.addHandler(() => {
      if (upgraded) return;
      upgraded = true;
      server.finishStreams = false;
      cache.informer(things);
    });
    for (let i = 0; i < 30; i++) await clock.flush();
    expect([upgraded, informer.state]).toEqual([true, "starting"]);
  });

  it("CORE-178 asks the server for metadata only", async () => {
    const { clock, server, cache } = harness();
    cache.informer(things, { projection: "metadata" });
    await clock.flush();
    expect(server.seen[0]!.options.metadataOnly).toBe(true);
  });

  it("CORE-188 the last user out stops the watch and frees the objects", async () => {
    const { clock, server, cache, gauges } = harness({ resyncMs: 1_000_000 });
    server.put(thing("x"));
    const first = cache.informer(things);
    const second = cache.informer(things);
    await clock.flush();
    expect(gauges.size).toBe(1);
    cache.release(first);
    await clock.flush();
    expect(second.list()).toHaveLength(1);
    expect(server.watches()).toHaveLength(1);
    cache.release(second);
    await clock.flush();
    expect([second.state, second.list(), cache.informers()]).toEqual(["stopped", [], []]);
    expect(server.watches()).toEqual([]);
    expect(gauges.size).toBe(0);
    expect(clock.pending).toBe(0);
    await expect(second.synced()).rejects.toThrow("stopped");
  });

  it("CORE-188 leaves nothing behind when it stops in any phase", async () => {
    for (const phase of ["start", "streaming", "waiting", "backoff"]) {
      const { clock, server, cache } = harness();
      if (phase === "streaming") server.finishStreams = false;
      if (phase === "waiting") server.refuse("watch", apiError(404));
      if (phase === "backoff") server.refuse("watch", apiError(503));
      cache.informer(things);
      if (phase !== "start") await clock.flush();
      await cache.stop();
      await clock.flush();
      expect(server.watches(), phase).toEqual([]);
      expect(clock.pending, phase).toBe(0);
      expect(() => cache.informer(things)).toThrow("stopped");
    }
  });
});

describe("get and list", () => {
  it("CORE-183 wait for a kind that is watched", async () => {
    const { clock, server, cache, requests } = harness();
    server.put(thing("x"));
    server.put(thing("y", { namespace: "b", metadata: { labels: { app: "web" } } }));
    cache.informer(things);
    const reads = Promise.all([
      cache.get(things, X),
      cache.get(things, { namespace: "a", name: "none" }),
      cache.list(things),
      cache.list(things, { namespace: "b", labels: { app: "web" } }),
    ]);
    await clock.flush();
    const [x, none, all, some] = await reads;
    expect([x?.metadata.name, none, all.length, some.map(({ metadata }) => metadata.name)]).toEqual([
      "x",
      undefined,
      2,
      ["y"],
    ]);
    expect(requests()).toEqual(["stream"]);
  });

  it("CORE-183 fail with NotCachedError for a kind that nobody watches, and send nothing", async () => {
    const { clock, cache, requests } = harness();
    await expect(cache.get(things, X)).rejects.toMatchObject({ name: "NotCachedError" });
    await expect(cache.list(things)).rejects.toThrow(
      "things.v1.test.quartet.io is not cached; watch the kind",
    );
    await clock.flush();
    expect(requests()).toEqual([]);
    expect(cache.informers()).toEqual([]);
  });

  it("are not answered from informers that leave something out", async () => {
    const { clock, server, cache } = harness();
    server.put(thing("x", { spec: { text: "hello" } }));
    cache.informer(things, { labelSelector: "app=web" });
    cache.informer(things, { namespaces: ["b"] });
    cache.informer(things, { projection: { name: "bare", transform: ({ spec: _, ...rest }) => rest } });
    await expect(cache.get(things, X)).rejects.toMatchObject({ name: "NotCachedError" });
    cache.informer(things);
    const read = cache.get(things, X);
    await clock.flush();
    expect((await read)?.spec).toEqual({ text: "hello" });
  });

  it("take cluster-scoped objects by name alone", async () => {
    const { clock, server, cache } = harness({ namespaces: ["a"] });
    server.put(thing("w", { namespace: "", kind: "World" }), worlds);
    cache.informer(worlds);
    const read = cache.get(worlds, { namespace: "ignored", name: "w" });
    await clock.flush();
    expect((await read)?.metadata.name).toBe("w");
  });

  it("CORE-184 give up after the sync limit and name kind and last error", async () => {
    const { clock, server, cache } = harness();
    server.refuse("watch", apiError(503, "etcd is down"), 1_000);
    cache.informer(things);
    const read = cache.get(things, X);
    const failure = expect(read).rejects.toThrow(
      "cache of things.v1.test.quartet.io did not sync within 120 s (starting): etcd is down",
    );
    await clock.advance(119_999);
    await clock.advance(1);
    await failure;
  });

  it("fail at once for a kind that is missing or forbidden", async () => {
    const { clock, server, cache } = harness();
    server.refuse("watch", apiError(403, "cannot list things"));
    cache.informer(things);
    const read = cache.list(things);
    const failure = expect(read).rejects.toMatchObject({ name: "CacheSyncError", state: "forbidden" });
    await clock.flush();
    await failure;
    await clock.advance(10_000);
    await expect(cache.list(things)).resolves.toEqual([]);
  });
});

describe("waiting for sync", () => {
  it("CORE-184 names controller, kind and last error after the limit, and lets a missing kind come", async () => {
    const { clock, server, cache } = harness();
    server.refuse("watch", apiError(404, "the server could not find the requested resource"), 3);
    const informer = cache.informer(things);
    const waiting = waitForSync(informer, { clock, controller: "echo" });
    await clock.advance(30_000);
    await expect(waiting).resolves.toBeUndefined();

    const other = harness();
    other.server.refuse("watch", apiError(404, "the server could not find the requested resource"), 100);
    const failed = waitForSync(other.cache.informer(things), { clock: other.clock, controller: "echo" });
    const failure = expect(failed).rejects.toMatchObject({
      name: "CacheSyncError",
      state: "waiting-for-kind",
      message: expect.stringMatching(/^controller echo: .*things\.v1\.test\.quartet\.io.*could not find/),
    });
    await other.clock.advance(120_000);
    await failure;
  });

  it("ends with the caller's signal", async () => {
    const { clock, server, cache } = harness();
    server.finishStreams = false;
    const stop = new AbortController();
    const informer = cache.informer(things);
    const waits = [waitForSync(informer, { clock, signal: stop.signal }), informer.synced(stop.signal)];
    const failures = waits.map((wait) => expect(wait).rejects.toThrow("shutting down"));
    await clock.flush();
    stop.abort(new Error("shutting down"));
    await Promise.all(failures);
    await expect(waitForSync(informer, { clock, signal: stop.signal })).rejects.toThrow("shutting down");
  });

  it("listeners hear each change of state", async () => {
    const { clock, server, cache } = harness();
    server.refuse("watch", apiError(404));
    const states: string[] = [];
    const informer = cache.informer(things);
    const stopListening = informer.onState((state) => states.push(state));
    await clock.advance(10_000);
    expect(states).toEqual(["waiting-for-kind", "synced"]);
    stopListening();
    await cache.stop();
    expect(states).toHaveLength(2);
  });
});
