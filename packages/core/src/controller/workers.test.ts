import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../clock.ts";
import { createQueue } from "../queue/queue.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { createWorkers, type Workers } from "./workers.ts";

/** A clock that work moves on: what runs is as if it kept the processor busy. */
function busyClock(): Clock & { spend(ms: number): void } {
  let now = 0;
  return {
    monotonic: () => now,
    now: () => now,
    setTimer: () => () => {},
    spend(ms) {
      now += ms;
    },
  };
}

function workersOn(clock: Clock, count: number, run: (key: string) => Promise<void>) {
  const queue = createQueue({ name: "test", clock });
  const workers: Workers = createWorkers({
    count,
    queue,
    clock,
    run: ({ key }) => run(key),
    onActive: () => {},
  });
  workers.start();
  workers.resume();
  return { queue, workers };
}

describe("CORE-211 fairness on one thread", () => {
  it.each([
    [1, "one worker"],
    [50, "many workers"],
  ])("CORE-211 timers and sockets get their turn after 10 ms of work by %i worker(s)", async (count) => {
    const clock = busyClock();
    const { queue } = workersOn(clock, count, async () => {
      clock.spend(2);
      await null;
    });
    for (let i = 0; i < 200; i += 1) queue.add(`k${i}`);
    let turnAt = clock.monotonic();
    let longest = 0;
    while (queue.length > 0) {
      await setImmediate();
      longest = Math.max(longest, clock.monotonic() - turnAt);
      turnAt = clock.monotonic();
    }
    expect(clock.monotonic()).toBe(400);
    expect(longest).toBeGreaterThan(0);
    // The last item may begin just before the slice is over.
    expect(longest).toBeLessThanOrEqual(12);
  });

  it("CORE-211 a flood on one controller delays the pick of another by one slice", async () => {
    const clock = busyClock();
    const flooded = workersOn(clock, 4, async () => clock.spend(2));
    const picked: number[] = [];
    const other = workersOn(clock, 4, async () => void picked.push(clock.monotonic()));
    for (let i = 0; i < 1000; i += 1) flooded.queue.add(`k${i}`);
    await setImmediate();
    const added = clock.monotonic();
    other.queue.add("late");
    while (picked.length === 0) await setImmediate();
    expect(flooded.queue.length).toBeGreaterThan(0);
    expect(picked[0]! - added).toBeLessThan(100);
  });

  it("CORE-211 a real flood holds up neither timers nor another controller", async () => {
    // Time that this thread computes: what others take of a busy machine does not count
    const used = (): number => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    };
    const flooded = workersOn(systemClock, 4, async () => {
      const end = used() + 1;
      while (used() < end);
    });
    const picked: number[] = [];
    const other = workersOn(systemClock, 4, async () => void picked.push(used()));
    for (let i = 0; i < 2000; i += 1) flooded.queue.add(`k${i}`);
    const begin = used();
    await setTimeout(1);
    expect(used() - begin).toBeLessThan(100);
    const added = used();
    other.queue.add("late");
    while (picked.length === 0) await setImmediate();
    expect(picked[0]! - added).toBeLessThan(100);
    expect(flooded.queue.length).toBeGreaterThan(1000);
    flooded.workers.close();
  });
});

it("starts no work from within the call that adds it", async () => {
  const started: string[] = [];
  const { queue } = workersOn(fakeClock(), 1, async (key) => void started.push(key));
  queue.add("a");
  expect(started).toEqual([]);
  await setImmediate();
  expect(started).toEqual(["a"]);
});

it("takes nothing while paused, keeps the order, and ends when closed", async () => {
  const clock = fakeClock();
  const ran: string[] = [];
  const { queue, workers } = workersOn(clock, 1, async (key) => void ran.push(key));
  workers.pause();
  for (const key of ["a", "b", "c"]) queue.add(key);
  await clock.flush();
  expect(ran).toEqual([]);
  expect(queue.length).toBe(3);
  workers.resume();
  await clock.flush();
  expect(ran).toEqual(["a", "b", "c"]);
  workers.close();
  queue.add("late");
  await workers.ended;
  expect(ran).toEqual(["a", "b", "c"]);
});
