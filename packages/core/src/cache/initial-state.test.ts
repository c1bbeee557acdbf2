import { describe, expect, it } from "vitest";
import { apiError, errorEvent, thing } from "./fixtures.testkit.ts";
import { harness } from "./harness.testkit.ts";

const NO_STREAMING = apiError(
  422,
  "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
);

describe("initial state", () => {
  it("CORE-160 comes as a stream that goes on as the watch", async () => {
    const { clock, server, watch, requests } = harness();
    server.put(thing("x"));
    const { informer, events } = watch();
    expect(informer.state).toBe("starting");
    await clock.flush();
    expect(informer.state).toBe("synced");
    server.put(thing("y"));
    await clock.flush();
    expect(events).toEqual(["add a/x (initial)", "add a/y"]);
    expect(requests()).toEqual(["stream"]);
    expect(server.seen[0]!.options).not.toHaveProperty("resourceVersion");
  });

  it("CORE-160 is not readable before it is whole", async () => {
    const { clock, server, watch } = harness();
    server.put(thing("x"));
    server.finishStreams = false;
    const { informer, events } = watch();
    await clock.flush();
    expect([informer.list(), informer.hasSynced(), events]).toEqual([[], false, []]);
  });

  it("CORE-160 of a stream that broke does not get into the next one", async () => {
    const { clock, server, watch } = harness();
    server.put(thing("x"));
    server.finishStreams = false;
    const { informer } = watch();
    await clock.flush();
    server.watches()[0]!.fail(new Error("socket hang up"));
    await clock.flush();
    server.remove({ namespace: "a", name: "x" });
    server.finishStreams = true;
    await clock.advance(800);
    expect([informer.state, informer.list()]).toEqual(["synced", []]);
  });

  it("CORE-161 is listed at once on servers before 1.32", async () => {
    const { clock, server, watch, requests } = harness();
    server.minor = 31;
    watch();
    await clock.flush();
    expect(requests()).toEqual(["list", "watch"]);
  });

  it("CORE-161 a refused stream falls back to a list, for all kinds for 30 min, and is logged once", async () => {
    const { clock, server, cache, watch, requests, observed, lines } = harness();
    server.refuse("watch", NO_STREAMING);
    const first = watch();
    await clock.flush();
    expect(first.informer.state).toBe("synced");
    expect(requests()).toEqual(["stream", "list", "watch"]);
    expect(observed).toEqual(["list initial", "list fallback", "watch"]);

    await clock.advance(29 * 60_000);
    watch({ labelSelector: "app=x" });
    await clock.flush();
    expect(requests().filter((request) => request === "stream")).toHaveLength(1);
    expect(lines.filter(({ msg }) => msg.includes("does not do streaming lists"))).toHaveLength(1);

    await clock.advance(60_000);
    watch({ labelSelector: "app=y" });
    await clock.flush();
    expect(requests().at(-1)).toBe("stream");
    await cache.stop();
  });

  it("CORE-161 CORE-450 falls back when the stream says that its etcd is too old", async () => {
    const { clock, server, watch, requests } = harness();
    server.finishStreams = false;
    const { informer } = watch();
    await clock.flush();
    const reason =
      "a watch stream was requested but the required storage feature RequestWatchProgress is disabled";
    server.watches()[0]!.send(errorEvent(500, reason));
    await clock.flush();
    expect(requests()).toEqual(["stream", "list", "watch"]);
    expect(informer.state).toBe("synced");
    expect(server.watches(), "the stream is closed").toHaveLength(1);
  });

  it("CORE-162 warns after 60 s of silence every 10 s, and lists after 120 s", async () => {
    const { clock, server, watch, requests, lines } = harness();
    server.put(thing("x"));
    server.finishStreams = false;
    const { informer } = watch();
    const warnings = (): unknown[] =>
      lines
        .filter(({ level, msg }) => level === "warn" && msg.includes("silent"))
        .map(({ fields }) => fields.silentSeconds);
    await clock.advance(59_999);
    expect(warnings()).toEqual([]);
    await clock.advance(60_000);
    expect(warnings()).toEqual([60, 70, 80, 90, 100, 110]);
    expect(requests()).toEqual(["stream"]);
    await clock.advance(1);
    expect(requests()).toEqual(["stream", "list", "watch"]);
    expect(informer.list()).toHaveLength(1);
  });

  it("CORE-163 comes in pages of 500, at the newest version, and is swapped in as a whole", async () => {
    const { clock, server, watch } = harness();
    server.minor = 31;
    for (let i = 0; i < 1_001; i++) server.put(thing(`x${i}`));
    const { informer, events } = watch();
    await clock.flush();
    const lists = server.seen.filter(({ verb }) => verb === "list").map(({ options }) => options);
    expect(lists.map(({ limit }) => limit)).toEqual([500, 500, 500]);
    expect(lists[0]).not.toHaveProperty("resourceVersion");
    expect(informer.list()).toHaveLength(1_001);
    expect(events).toHaveLength(1_001);
  });

  it("CORE-163 asks servers before 1.31 for any version", async () => {
    const { clock, server, watch } = harness();
    server.minor = 30;
    watch();
    await clock.flush();
    expect(server.seen[0]).toMatchObject({ verb: "list", options: { resourceVersion: "0", limit: 500 } });
    expect(server.seen[0]!.options).not.toHaveProperty("resourceVersionMatch");
  });

  it("CORE-164 goes on with the fresh token of an expired page", async () => {
    const { clock, server, watch } = harness();
    server.minor = 31;
    for (let i = 0; i < 600; i++) server.put(thing(`x${i}`));
    const { informer } = watch();
    // The first page passes, the second one has expired.
    let pages = 0;
    const list = server.client.pages.bind(server.client);
    server.client.pages = async function* (kind, options) {
      for await (const page of list(kind, options)) {
        if (++pages === 2) throw apiError(410, "expired", { continueToken: "500" });
        yield page;
      }
    } as typeof server.client.pages;
    await clock.flush();
    expect(server.seen.filter(({ verb }) => verb === "list").at(-1)).toMatchObject({
      options: { continue: "500" },
    });
    expect(informer.list()).toHaveLength(600);
  });

  it("waits for a server that cannot be reached", async () => {
    const { clock, server, watch, requests } = harness();
    server.refuse("version", new Error("connect ECONNREFUSED"), 2);
    const { informer } = watch();
    await clock.advance(2_399);
    expect(requests()).toEqual([]);
    expect(informer.lastError).toMatchObject({ message: "connect ECONNREFUSED" });
    await clock.advance(1);
    expect(informer.state).toBe("synced");
    expect(informer.lastError).toBeUndefined();
  });

  it("lists a server that hides its version", async () => {
    const { clock, server, watch, requests } = harness();
    server.refuse("version", apiError(403));
    const { informer } = watch();
    await clock.flush();
    expect(requests()).toEqual(["list", "watch"]);
    expect(informer.state).toBe("synced");
  });
});
