import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../clock.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { createQueue, type QueueObserver, type WorkQueue } from "./queue.ts";
import { LOW_PRIORITY } from "./types.ts";

let clock: FakeClock;
let queue: WorkQueue;
beforeEach(() => {
  clock = fakeClock();
  queue = createQueue({ name: "test", clock });
});

/** Hands out the next key and marks it as done at once. */
async function next(): Promise<string> {
  const item = await queue.get();
  queue.done(item!.key);
  return item!.key;
}
async function drain(): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length > 0) keys.push(await next());
  return keys;
}

describe("queue", () => {
  it("CORE-201 hands out a key once for many adds while it waits", async () => {
    for (let i = 0; i < 5; i += 1) queue.add("a");
    queue.add("b");
    expect(await drain()).toEqual(["a", "b"]);
  });

  it("CORE-201 runs a key exactly once more when it was added while it ran", async () => {
    queue.add("a");
    await queue.get();
    queue.add("a");
    queue.add("a");
    expect(queue.length).toBe(0);
    queue.done("a");
    expect(await drain()).toEqual(["a"]);
  });

  it("CORE-202 never hands out a key that is running, whatever was added meanwhile", async () => {
    queue.add("a");
    await queue.get();
    queue.add("a");
    queue.addAfter("a", 10);
    await clock.advance(20);
    let handedOut = false;
    void queue.get().then(() => {
      handedOut = true;
    });
    await clock.flush();
    expect(handedOut).toBe(false);
    queue.done("a");
    await clock.flush();
    expect(handedOut).toBe(true);
  });

  it("CORE-203 takes the highest priority first, and the first come among equals", async () => {
    queue.add("low", { priority: LOW_PRIORITY });
    queue.add("a");
    queue.add("b");
    queue.add("urgent", { priority: 5 });
    expect(await drain()).toEqual(["urgent", "a", "b", "low"]);
  });

  it("CORE-204 raises a key and puts it last among its new peers; a lower priority changes nothing", async () => {
    queue.add("x", { priority: LOW_PRIORITY });
    queue.add("a");
    queue.add("b");
    queue.add("x");
    queue.add("a", { priority: LOW_PRIORITY });
    expect(await drain()).toEqual(["a", "b", "x"]);
  });

  it("CORE-204 keeps the earlier ready time of a raised key", async () => {
    queue.add("x", { priority: LOW_PRIORITY });
    await clock.advance(50);
    queue.add("x");
    expect((await queue.get())!.readySince).toBe(0);
  });

  it("CORE-206 hands out a delayed key not before its time, and at once when it is added meanwhile", async () => {
    queue.addAfter("a", 100);
    queue.addAfter("b", 50);
    await clock.advance(49);
    expect(queue.length).toBe(0);
    queue.add("a");
    expect(await next()).toBe("a");
    await clock.advance(1000);
    expect(await drain()).toEqual(["b"]);
  });

  it("CORE-203 CORE-204 a delayed add made during a run brings its own priority, a later raise keeps it", async () => {
    queue.add("a", { priority: 5 });
    await queue.get();
    queue.addAfter("a", 10, { priority: -7 });
    queue.done("a");
    await clock.advance(10);
    expect((await queue.get())!.priority).toBe(-7);
    queue.addAfter("a", 10, { priority: 3 });
    queue.add("a", { priority: -7 });
    queue.done("a");
    expect((await queue.get())!.priority).toBe(3);
  });

  it("CORE-206 a wait of many days ends neither early nor late", async () => {
    const days = 86_400_000;
    queue.addAfter("a", 40 * days);
    await clock.advance(40 * days - 1);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(await drain()).toEqual(["a"]);
  });

  it("CORE-206 a timer that fires early hands out nothing before its time", () => {
    let now = 0;
    const timers: { ms: number; fn: () => void }[] = [];
    const early: Clock = {
      monotonic: () => now,
      now: () => now,
      setTimer(ms, fn) {
        timers.push({ ms, fn });
        return () => {};
      },
    };
    queue = createQueue({ name: "test", clock: early });
    queue.addAfter("a", 10);
    now = 9.5;
    timers.shift()!.fn();
    expect(queue.length).toBe(0);
    expect(timers.map(({ ms }) => ms)).toEqual([0.5]);
    now = 10;
    timers.shift()!.fn();
    expect(queue.length).toBe(1);
  });

  it("CORE-206 the earlier of two delays counts", async () => {
    queue.addAfter("a", 100);
    queue.addAfter("a", 20);
    queue.addAfter("a", 500);
    await clock.advance(20);
    expect(await drain()).toEqual(["a"]);
    expect(clock.pending).toBe(0);
  });

  it("CORE-207 CORE-208 doubles the delay of a failing key and starts anew after forget", async () => {
    const delays: (number | undefined)[] = [];
    for (let i = 0; i < 20; i += 1) {
      queue.addRateLimited("a");
      delays.push(queue.inspect("a").dueInMs);
      await clock.advance(1_000_000);
      await next();
    }
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect([delays[10], delays[17], delays[18], delays[19]]).toEqual([5120, 655_360, 1_000_000, 1_000_000]);
    queue.forget("a");
    queue.addRateLimited("a");
    expect(queue.inspect("a")).toMatchObject({ state: "waiting", dueInMs: 5 });
  });

  it("CORE-207 lets ten failing keys a second pass once the burst of 100 is used up", () => {
    for (let i = 0; i < 100; i += 1) queue.addRateLimited(`k${i}`);
    queue.addRateLimited("late");
    queue.addRateLimited("later");
    expect(queue.inspect("k99").dueInMs).toBe(5);
    expect(queue.inspect("late").dueInMs).toBe(100);
    expect(queue.inspect("later").dueInMs).toBe(200);
  });

  it("CORE-209 runs a changed key at once although it is in backoff, and keeps its count of failures", async () => {
    for (let i = 0; i < 3; i += 1) {
      queue.addRateLimited("a");
      queue.add("a");
      expect((await queue.get())!.attempt).toBe(i + 1);
      queue.done("a");
    }
  });

  it("CORE-210 keeps nothing of a million keys that came, failed, ran and went", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const usedAfter = (cycles: number): number => {
      for (let i = 0; i < cycles; i += 1) {
        const key = `namespace/object-${i}`;
        queue.addRateLimited(key);
        queue.add(key);
        queue.take();
        queue.forget(key);
        queue.done(key);
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = usedAfter(1000);
    const growth = usedAfter(1_000_000) - before;
    // One number per key would be 40 MB.
    expect(growth).toBeLessThan(5 * 2 ** 20);
    expect(queue.inspect("namespace/object-0")).toEqual({ state: "absent", attempt: 0 });
    expect(clock.pending).toBe(0);
  });

  it("CORE-212 drops what waits and stops its workers on shutdown, and takes nothing more", async () => {
    queue.add("a");
    const running = await queue.get();
    const waiting = queue.get();
    queue.addAfter("later", 10);
    queue.shutDown();
    queue.add("b");
    expect(await waiting).toBeUndefined();
    expect(await queue.get()).toBeUndefined();
    queue.done(running!.key);
    await clock.advance(100);
    expect(queue.length).toBe(0);
  });

  it.each([Number.NaN, -5])("CORE-213 takes the delay %s as 0 and warns", async (delay) => {
    const warnings: string[] = [];
    const log = { warn: (msg: string) => warnings.push(msg) } as never;
    queue = createQueue({ name: "test", clock, log });
    queue.addAfter("a", delay);
    expect(await drain()).toEqual(["a"]);
    expect(warnings).toHaveLength(1);
  });

  it("CORE-213 takes a rate limiter of one's own", () => {
    queue = createQueue({
      name: "test",
      clock,
      rateLimiter: { delayFor: () => 7, failures: () => 3, forget: () => {} },
    });
    queue.addRateLimited("a");
    expect(queue.inspect("a")).toEqual({ state: "waiting", attempt: 3, dueInMs: 7 });
  });

  it("tells its listener of items that nobody waits for", async () => {
    let told = 0;
    queue.onReady(() => (told += 1));
    const waiting = queue.get();
    queue.add("a");
    expect((await waiting)!.key).toBe("a");
    expect(told).toBe(0);
    queue.add("b");
    expect(told).toBe(1);
    expect(queue.take()!.key).toBe("b");
    expect(queue.take()).toBeUndefined();
  });

  it("tells its observer adds, depths, waits and work", async () => {
    const depths = new Map<number, number>();
    const seen = { adds: 0, retries: 0, waited: 0, worked: 0 };
    const observer: QueueObserver = {
      onAdd: () => (seen.adds += 1),
      onRetry: () => (seen.retries += 1),
      onDepth: (priority, depth) => depths.set(priority, depth),
      onGet: (seconds) => (seen.waited += seconds),
      onDone: (seconds) => (seen.worked += seconds),
    };
    queue = createQueue({ name: "test", clock, observer });
    queue.add("a");
    queue.addAfter("b", 1000);
    await clock.advance(1000);
    expect(depths.get(0)).toBe(2);
    await queue.get();
    await clock.advance(500);
    expect(queue.runningFor()).toEqual([500]);
    queue.done("a");
    expect(seen).toEqual({ adds: 2, retries: 1, waited: 1, worked: 0.5 });
    expect(depths.get(0)).toBe(1);
  });
});
