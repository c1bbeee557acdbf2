import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type FakeClock, fakeClock } from "../clock.testkit.ts";
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

  it("CORE-210 keeps nothing of keys that came and went", async () => {
    for (let i = 0; i < 1_000_000; i += 1) {
      const key = `k${i}`;
      queue.add(key);
      await queue.get();
      queue.forget(key);
      queue.done(key);
    }
    const before = process.memoryUsage().heapUsed;
    expect(queue.inspect("k0").state).toBe("absent");
    expect(queue.runningFor()).toEqual([]);
    expect(before).toBeLessThan(300 * 2 ** 20);
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

describe("queue, for any sequence of operations", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  const operation = fc.oneof(
    fc.record({ op: fc.constant("add" as const), key, priority: fc.constantFrom(-100, 0, 0, 5) }),
    fc.record({ op: fc.constant("after" as const), key, ms: fc.nat(50) }),
    fc.record({ op: fc.constant("get" as const) }),
    fc.record({ op: fc.constant("done" as const), key }),
    fc.record({ op: fc.constant("wait" as const), ms: fc.nat(40) }),
  );

  it("CORE-201 CORE-202 every add is followed by a run that begins after it, and runs of a key never overlap", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
        const time = fakeClock();
        const q = createQueue({ name: "p", clock: time });
        const running = new Set<string>();
        const owed = new Set<string>();
        const take = async (): Promise<void> => {
          if (q.length === 0) return;
          const item = await q.get();
          expect(running.has(item!.key)).toBe(false);
          running.add(item!.key);
          owed.delete(item!.key);
        };
        for (const step of operations) {
          if (step.op === "add") q.add(step.key, { priority: step.priority });
          if (step.op === "after") q.addAfter(step.key, step.ms);
          if (step.op === "add" || step.op === "after") owed.add(step.key);
          if (step.op === "get") await take();
          if (step.op === "done" && running.delete(step.key)) q.done(step.key);
          if (step.op === "wait") await time.advance(step.ms);
        }
        for (const left of [...running]) q.done(left);
        running.clear();
        await time.advance(100);
        while (q.length > 0) {
          await take();
          for (const left of [...running]) q.done(left);
          running.clear();
        }
        expect([...owed]).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it("CORE-205 an item with m older ready items runs within 8·(m+1) picks under a flood", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(20), async (older) => {
        const time = fakeClock();
        const q = createQueue({ name: "p", clock: time });
        for (let i = 0; i < older; i += 1) q.add(`old${i}`, { priority: LOW_PRIORITY });
        q.add("target", { priority: LOW_PRIORITY });
        let picks = 0;
        for (let fresh = 0; ; fresh += 1) {
          await time.advance(1);
          q.add(`fresh${fresh}`);
          q.add(`fresher${fresh}`);
          const item = await q.get();
          q.done(item!.key);
          picks += 1;
          if (item!.key === "target") break;
        }
        expect(picks).toBeLessThanOrEqual(8 * (older + 1));
      }),
      { numRuns: 20 },
    );
  });
});
