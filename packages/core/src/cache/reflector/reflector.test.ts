import { describe, expect, it } from "vitest";
import { apiError, type Thing, thing } from "../fixtures.testkit.ts";
import { harness } from "../harness.testkit.ts";

describe("watching", () => {
  it("CORE-165 is opened again at once when the server ends it, from the last version, without a list", async () => {
    const { clock, server, watch, requests, observed } = harness();
    const { events } = watch();
    await clock.flush();
    server.put(thing("x"));
    await clock.advance(400_000);
    server.put(thing("y"));
    const version = String(server.version);
    await clock.flush();
    const ended = server.watches()[0]!;
    ended.end();
    await clock.flush();
    expect(ended.open).toBe(false);
    expect(server.watches()).toHaveLength(1);
    expect(server.watches()[0]!.options.resourceVersion).toBe(version);
    server.put(thing("z"));
    await clock.flush();
    expect(events).toEqual(["add a/x", "add a/y", "add a/z"]);
    expect(requests().slice(1)).not.toContain("list");
    expect(observed.filter((what) => what.startsWith("list"))).toEqual(["list initial"]);
  });

  it("CORE-165 asks for an end after 300 to 600 s", async () => {
    for (const [random, seconds] of [
      [0, 300],
      [0.5, 450],
      [0.9999, 600],
    ] as const) {
      const { clock, server, watch } = harness({ random: () => random });
      watch();
      await clock.flush();
      expect(server.watches()[0]!.options.timeoutSeconds).toBe(seconds);
    }
  });

  it("CORE-166 goes on from the version of a bookmark", async () => {
    const { clock, server, watch } = harness();
    watch();
    await clock.flush();
    server.watches()[0]!.bookmark("950");
    await clock.advance(10_000);
    server.watches()[0]!.end();
    await clock.flush();
    expect(server.watches()[0]!.options.resourceVersion).toBe("950");
  });

  it("CORE-167 CORE-172 lists when its version expired, and finds deletions that it missed", async () => {
    const { clock, server, watch, observed } = harness();
    for (const name of ["gone", "kept", "changed"]) server.put(thing(name));
    const { informer, events } = watch();
    await clock.flush();
    const seen = String(server.version);
    events.length = 0;
    server.cut();
    await clock.flush();
    server.remove({ namespace: "a", name: "gone" });
    server.put(thing("changed", { spec: { text: "new" } }));
    server.put(thing("added"));
    server.compact();
    await clock.advance(1_000);
    expect(events).toEqual(["add a/added", "update a/changed", "delete a/gone (stale)"]);
    expect(
      informer
        .list()
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(["added", "changed", "kept"]);
    expect(observed.filter((what) => what.startsWith("list"))).toEqual(["list initial", "list expired"]);
    const relist = server.seen.findLast(({ options }) => options.sendInitialEvents);
    expect(relist!.options.resourceVersion).toBe(seen);
  });

  it("CORE-168 backs off when refused and watches on without a list", async () => {
    const { clock, server, watch, observed } = harness();
    const { events } = watch();
    await clock.flush();
    server.refuse("watch", new Error("connect ECONNREFUSED"), 1);
    server.refuse("watch", apiError(429, "storage is (re)initializing"), 1);
    await clock.advance(10_000);
    server.watches()[0]!.fail(new Error("socket hang up"));
    await clock.flush();
    server.put(thing("x"));
    // 0.8 s after the broken watch, 1.6 s after the first refusal, 3.2 s after the second.
    await clock.advance(5_599);
    expect(events).toEqual([]);
    await clock.advance(1);
    expect(events).toEqual(["add a/x"]);
    expect(observed.filter((what) => what.startsWith("list"))).toEqual(["list initial"]);
  });
});

describe("an event that is none", () => {
  it("is made good by a list", async () => {
    const { clock, server, watch, observed } = harness();
    const { informer } = watch();
    await clock.flush();
    server.hold();
    const { metadata: _, ...formless } = server.put(thing("x"));
    server.watches()[0]!.send({ type: "ADDED", object: formless as Thing });
    await clock.flush();
    expect([informer.list(), informer.lastError]).toEqual([[], expect.any(TypeError)]);
    await clock.advance(800);
    expect(observed.filter((what) => what.startsWith("list"))).toEqual(["list initial", "list error"]);
    expect(informer.list()).toHaveLength(1);
  });
});

describe("silence", () => {
  it("CORE-170 after a bookmark is a stall: counted, warned of, watched anew from the last version", async () => {
    const { clock, server, watch, observed, lines } = harness();
    const { events } = watch();
    await clock.flush();
    server.watches()[0]!.bookmark("500");
    await clock.advance(30_000);
    server.blackhole(true);
    const dead = server.watches()[0]!;
    server.put(thing("x"));
    await clock.advance(44_999);
    expect([dead.open, events]).toEqual([true, []]);
    server.blackhole(false);
    await clock.advance(1);
    expect(dead.open).toBe(false);
    expect(observed).toEqual(["list initial", "stall", "watch"]);
    expect(lines.some(({ level, msg }) => level === "warn" && msg.includes("stalled"))).toBe(true);
    expect(server.watches()[0]!.options.resourceVersion).toBe("500");
  });

  it("CORE-170 of an idle kind is no stall, costs no list, and loses no event in 10 min", async () => {
    const { clock, server, watch, observed, lines } = harness();
    const { events } = watch();
    await clock.advance(300_000);
    server.put(thing("x"));
    await clock.advance(300_000);
    expect(events).toEqual(["add a/x"]);
    expect(observed.filter((what) => what !== "watch")).toEqual(["list initial"]);
    expect(lines.filter(({ level }) => level === "warn")).toEqual([]);
    expect(observed.filter((what) => what === "watch")).toHaveLength(8);
  });

  it("CORE-170 does not begin while bytes come in, even without a whole event", async () => {
    const { clock, server, watch } = harness();
    watch();
    await clock.flush();
    const first = server.watches()[0]!;
    for (let i = 0; i < 10; i++) {
      await clock.advance(70_000);
      first.bytes();
    }
    expect(first.open).toBe(true);
  });

  it("CORE-170 a blackholed watch brings the next event within 80 s", async () => {
    for (const busy of [true, false]) {
      const { clock, server, watch } = harness();
      const { events } = watch();
      await clock.advance(1_000);
      if (busy) server.watches()[0]!.bookmark();
      await clock.flush();
      server.blackhole(true);
      server.put(thing("x"));
      await clock.flush();
      // The hole is in the old connection only.
      server.blackhole(false);
      await clock.advance(79_000);
      expect(events, busy ? "busy" : "idle").toEqual(["add a/x"]);
    }
  });
});

describe("missing kind or right", () => {
  it.each([
    [404, "waiting-for-kind"],
    [403, "forbidden"],
  ] as const)(
    "CORE-173 on %i keeps what is cached, is unsynced, tells no deletions, and recovers",
    async (code, state) => {
      const { clock, server, watch, lines, observed } = harness();
      server.put(thing("x"));
      const { informer, events } = watch();
      await clock.advance(5_000);
      server.refuse("watch", apiError(code, "not any more"), 2);
      server.watches()[0]!.bookmark();
      server.watches()[0]!.end();
      await clock.flush();
      expect([informer.state, informer.hasSynced()]).toEqual([state, false]);
      expect(informer.list()).toHaveLength(1);
      expect(informer.lastError).toMatchObject({ code });
      await clock.advance(10_000);
      expect(informer.state).toBe(state);
      server.remove({ namespace: "a", name: "x" });
      server.put(thing("y"));
      await clock.advance(10_000);
      expect(informer.state).toBe("synced");
      expect(events).toEqual(["add a/x (initial)", "add a/y", "delete a/x (stale)"]);
      expect(observed.filter((what) => what.startsWith("list")).at(-1)).toBe("list returned");
      expect(server.seen.at(-1)!.options).not.toHaveProperty("resourceVersion");
      expect(lines.filter(({ msg }) => msg.includes("not available"))).toHaveLength(1);
    },
  );

  it("looks for the kind of an optional source every 5 min, for a required one every 10 s", async () => {
    const { clock, server, watch, requests } = harness();
    server.refuse("watch", apiError(404), 1_000);
    const { informer } = watch({ optional: true });
    await clock.advance(299_999);
    expect(requests()).toHaveLength(1);
    await clock.advance(1);
    expect(requests()).toHaveLength(2);
    expect(watch().informer).toBe(informer);
    await clock.flush();
    expect(requests(), "asked at once for one that needs it").toHaveLength(3);
    await clock.advance(30_000);
    expect(requests()).toHaveLength(6);
  });
});
