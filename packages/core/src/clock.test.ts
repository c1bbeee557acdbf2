import { expect, it } from "vitest";
import { sleep, systemClock } from "./clock.ts";
import { fakeClock } from "./testkit/fake-clock.ts";

it("the fake clock runs due timers in order of deadline, each at its own time", async () => {
  const clock = fakeClock(1_000);
  const seen: string[] = [];
  clock.setTimer(20, () => seen.push(`b@${clock.now()}`));
  clock.setTimer(10, () => seen.push(`a@${clock.now()}`));
  clock.setTimer(20, () => seen.push(`c@${clock.monotonic()}`));
  clock.setTimer(31, () => seen.push("too late"));
  await clock.advance(30);
  expect(seen).toEqual(["a@1010", "b@1020", "c@20"]);
  expect(clock.now()).toBe(1_030);
  expect(clock.pending).toBe(1);
});

it("the fake clock runs timers that other timers set, also through promises", async () => {
  const clock = fakeClock();
  const at: number[] = [];
  const loop = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await sleep(clock, 10);
      at.push(clock.monotonic());
    }
  };
  const done = loop();
  await clock.advance(100);
  await done;
  expect(at).toEqual([10, 20, 30]);
});

it("a cancelled timer of the fake clock does not fire", async () => {
  const clock = fakeClock();
  let fired = false;
  const cancel = clock.setTimer(5, () => {
    fired = true;
  });
  cancel();
  await clock.advance(10);
  expect(fired).toBe(false);
  expect(clock.pending).toBe(0);
});

it("sleep rejects with the signal's reason and cancels its timer", async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const slept = sleep(clock, 1_000, controller.signal);
  controller.abort(new Error("enough"));
  await expect(slept).rejects.toThrow("enough");
  expect(clock.pending).toBe(0);
  await expect(sleep(clock, 1, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});

it("the system clock fires after the delay and not after a cancel", async () => {
  const started = systemClock.monotonic();
  let cancelledFired = false;
  systemClock.setTimer(1, () => {
    cancelledFired = true;
  })();
  await sleep(systemClock, 15);
  expect(systemClock.monotonic() - started).toBeGreaterThanOrEqual(15);
  expect(cancelledFired).toBe(false);
});

it("the system clock keeps the whole delay when the event loop was busy before the call", async () => {
  await sleep(systemClock, 1);
  const busyUntil = performance.now() + 20;
  while (performance.now() < busyUntil);
  const started = systemClock.monotonic();
  await sleep(systemClock, 10);
  expect(systemClock.monotonic() - started).toBeGreaterThanOrEqual(10);
});
