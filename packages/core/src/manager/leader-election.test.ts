import { describe, expect, it } from "vitest";
import { parseLogLevels } from "../observe/levels.ts";
import { createLogging } from "../observe/logger.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { LeadershipLostError } from "./errors.ts";
import { createFence, type Fence } from "./fence.ts";
import { createLeaderElector, type LeaderElector } from "./leader-election.ts";
import { type LeaseServer, leaseServer, refused } from "./lease.testkit.ts";
import type { LeaseTimings } from "./lease-timings.ts";

const timings: LeaseTimings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const START = Date.UTC(2026, 0, 1);
const { log } = createLogging({ levels: parseLogLevels("error"), destination: { write: () => true } });

/** A promise to let requests wait for. */
function gateOf(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

interface Candidate {
  elector: LeaderElector;
  fence: Fence;
  stop: AbortController;
  /** Monotonic time at which it began to lead. */
  leadsSince: () => number | undefined;
  slowPaths: () => number;
}

function candidate(
  server: LeaseServer,
  clock: FakeClock,
  identity: string,
  more: { random?: () => number; own?: FakeClock } = {},
): Candidate {
  const own = more.own ?? clock;
  const fence = createFence({ clock: own, renewDeadlineMs: timings.renewDeadlineMs });
  let leadsSince: number | undefined;
  let slowPaths = 0;
  const elector = createLeaderElector({
    client: server.client,
    clock: own,
    log,
    lease: { namespace: "ops", name: "quartet-manager" },
    identity,
    timings,
    fence,
    observer: { onLeading: () => {}, onSlowPath: () => slowPaths++, onFencedWrite: () => {} },
    random: more.random ?? (() => 0),
  });
  const stop = new AbortController();
  elector.acquire(stop.signal).then(
    () => {
      leadsSince = clock.monotonic();
    },
    () => {},
  );
  return { elector, fence, stop, leadsSince: () => leadsSince, slowPaths: () => slowPaths };
}

function start(): { clock: FakeClock; server: LeaseServer } {
  const clock = fakeClock(START);
  return { clock, server: leaseServer(() => clock.monotonic()) };
}

describe("acquiring", () => {
  it("CORE-253 creates the Lease with identity, duration, six-digit times and no transition", async () => {
    const { clock, server } = start();
    candidate(server, clock, "a");
    await clock.flush();
    expect(server.lease()!.spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
  });

  it("CORE-254 takes a Lease without holder at once, with one more transition", async () => {
    const { clock, server } = start();
    server.put({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 4 });
    const a = candidate(server, clock, "a");
    await clock.flush();
    expect(a.elector.isLeader()).toBe(true);
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 5 });
  });

  it("CORE-254 tries every 2 to 4.4 s", async () => {
    for (const [random, pause] of [
      [0, 2_000],
      [1, 4_400],
    ] as const) {
      const { clock, server } = start();
      server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
      candidate(server, clock, "a", { random: () => random });
      await clock.advance(pause - 1);
      expect(server.calls).toHaveLength(1);
      await clock.advance(1);
      expect(server.calls).toHaveLength(2);
    }
  });

  it("CORE-254 waits for the holder's duration since its own first look, whatever the times in the Lease say", async () => {
    const { clock, server } = start();
    const long = "2001-01-01T00:00:00.000000Z";
    server.put({ holderIdentity: "other", leaseDurationSeconds: 15, renewTime: long, acquireTime: long });
    const a = candidate(server, clock, "a");
    await clock.advance(14_999);
    expect(a.elector.isLeader()).toBe(false);
    await clock.advance(2_001);
    expect(a.elector.isLeader()).toBe(true);
    expect(server.lease()!.spec!.leaseTransitions).toBe(1);
  });

  it("CORE-254 never takes a Lease whose holder keeps renewing, be its clock years behind", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    for (let index = 0; index < 60; index++) {
      server.put({
        holderIdentity: "other",
        leaseDurationSeconds: 15,
        renewTime: `2001-01-01T00:00:${10 + (index % 50)}.000000Z`,
      });
      await clock.advance(2_000);
    }
    expect(a.elector.isLeader()).toBe(false);
    expect(server.writes).toEqual([]);
  });

  it("has one leader at most among five candidates, and always one in the end", async () => {
    const { clock, server } = start();
    const all = ["a", "b", "c", "d", "e"].map((name, index) =>
      candidate(server, clock, name, { random: () => index / 5 }),
    );
    const leaders = (): number => all.filter((one) => one.elector.isLeader()).length;
    for (let step = 0; step < 120; step++) {
      await clock.advance(500);
      expect(leaders()).toBeLessThanOrEqual(1);
    }
    expect(leaders()).toBe(1);
  });

  it("CORE-266 gives back a Lease that was taken while the process was being stopped", async () => {
    const { clock, server } = start();
    const reading = gateOf();
    const gate = gateOf();
    server.gate = reading.promise;
    const a = candidate(server, clock, "a");
    await clock.flush();
    server.gate = gate.promise;
    reading.resolve();
    await clock.flush();
    expect(server.calls.at(-1)).toBe("create");
    a.stop.abort();
    server.gate = undefined;
    gate.resolve();
    await clock.flush();
    expect(a.leadsSince()).toBeUndefined();
    expect(a.elector.isLeader()).toBe(false);
    expect(server.lease()!.spec!.holderIdentity).toBe("");
  });
});

describe("renewing", () => {
  it("CORE-255 renews every 2 s by update alone and keeps acquireTime and transitions", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.advance(6_000);
    expect(server.calls).toEqual(["get", "create", "update", "update", "update"]);
    expect(server.writes.map((write) => write.at)).toEqual([0, 2_000, 4_000, 6_000]);
    expect(server.lease()!.spec).toMatchObject({
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:06.000000Z",
      leaseTransitions: 0,
    });
    expect(a.slowPaths()).toBe(0);
    expect(a.elector.sinceRenewal()).toBe(0);
  });

  it("CORE-255 reads again after a conflict and goes on when it still holds the Lease", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    server.put({ ...server.lease()!.spec!, renewTime: "2026-01-01T00:00:01.000000Z" });
    await clock.advance(2_000);
    expect(server.calls.slice(2)).toEqual(["update", "get", "update"]);
    expect(a.slowPaths()).toBe(1);
    expect(a.elector.isLeader()).toBe(true);
  });

  it("CORE-255 makes a deleted Lease anew", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    server.put(undefined);
    await clock.advance(2_000);
    expect(server.lease()!.spec!.holderIdentity).toBe("a");
    expect(a.elector.isLeader()).toBe(true);
  });

  it("CORE-255 survives failures shorter than the renew deadline and is lost after 10 s without success", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.advance(2_000);
    server.failure = refused();
    await clock.advance(9_000);
    server.failure = undefined;
    await clock.advance(900);
    expect(a.elector.lost.aborted).toBe(false);
    await clock.advance(100);
    expect(a.elector.lost.aborted).toBe(true);
  });

  it("CORE-256 is lost at the deadline even while a request hangs, and shuts the fence", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    server.gate = new Promise(() => {});
    await clock.advance(9_999);
    expect(a.elector.isLeader()).toBe(true);
    expect(a.fence.isOpen()).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader()).toBe(false);
    expect(a.fence.isOpen()).toBe(false);
    expect(a.elector.lost.reason).toBeInstanceOf(LeadershipLostError);
    expect(String(a.elector.lost.reason.message)).toMatch(/^leader election lost/);
  });

  it("CORE-256 is lost at once when another process holds the Lease, and does not touch it", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    server.put({ holderIdentity: "b", leaseDurationSeconds: 15 });
    const writes = server.writes.length;
    await clock.advance(2_000);
    expect(a.elector.lost.aborted).toBe(true);
    await a.elector.release();
    await clock.advance(60_000);
    expect(server.writes).toHaveLength(writes);
    expect(server.lease()!.spec!.holderIdentity).toBe("b");
  });

  it("CORE-257 sends no renewal after the process stood still for 20 s", async () => {
    const { clock, server } = start();
    const own = fakeClock(START);
    const a = candidate(server, clock, "a", { own });
    await own.advance(4_000);
    const calls = server.calls.length;
    // A stopped process: time goes on, timers do not fire; on wake-up the renewal's timer fires first.
    const jump = 20_000;
    const { monotonic, now } = own;
    Object.assign(own, { monotonic: () => monotonic() + jump, now: () => now() + jump });
    await own.advance(2_000);
    expect(server.calls).toHaveLength(calls);
    expect(a.elector.lost.aborted).toBe(true);
  });

  it("CORE-257 counts a renewal from the moment it was sent", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    const gate = gateOf();
    server.gate = gate.promise;
    await clock.advance(6_000);
    server.gate = undefined;
    gate.resolve();
    await clock.flush();
    expect(a.elector.sinceRenewal()).toBe(4_000);
  });
});

describe("releasing", () => {
  it("CORE-259 writes an empty holder and 1 s, and another candidate leads within 4.4 s", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    const b = candidate(server, clock, "b", { random: () => 1 });
    await clock.advance(8_000);
    const before = clock.monotonic();
    await a.elector.release();
    expect(server.lease()!.spec).toMatchObject({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
    });
    expect(a.elector.isLeader()).toBe(false);
    await clock.advance(4_400);
    expect(b.elector.isLeader()).toBe(true);
    expect(b.leadsSince()! - before).toBeLessThanOrEqual(4_400);
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  });

  it("CORE-259 lets another candidate lead within 15 s + 4.4 s after a crash", async () => {
    const { clock, server } = start();
    const own = fakeClock(START);
    candidate(server, clock, "a", { own });
    await own.flush();
    const b = candidate(server, clock, "b", { random: () => 1 });
    await clock.advance(14_999);
    expect(b.elector.isLeader()).toBe(false);
    await clock.advance(4_401);
    expect(b.elector.isLeader()).toBe(true);
  });

  it("releases although the last renewal changed the Lease behind its back", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.flush();
    server.put({ ...server.lease()!.spec!, renewTime: "2026-01-01T00:00:01.000000Z" });
    await a.elector.release();
    expect(server.lease()!.spec!.holderIdentity).toBe("");
  });

  it("keeps the Lease when told to, and leaves no timer behind", async () => {
    const { clock, server } = start();
    const a = candidate(server, clock, "a");
    await clock.advance(3_000);
    await a.elector.release({ keep: true });
    expect(server.lease()!.spec!.holderIdentity).toBe("a");
    expect(clock.pending).toBe(0);
  });
});
