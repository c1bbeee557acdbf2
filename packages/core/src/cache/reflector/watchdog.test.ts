import { expect, it } from "vitest";
import { fakeClock } from "../../testkit/fake-clock.ts";
import { type SilenceLimits, startWatchdog } from "./watchdog.ts";

function setUp(limits: SilenceLimits) {
  const clock = fakeClock();
  const seen: string[] = [];
  let current = limits;
  const dog = startWatchdog({
    clock,
    limits: () => current,
    onWarn: (silentMs) => seen.push(`warn ${silentMs} @${clock.monotonic()}`),
    onAbort: () => seen.push(`abort @${clock.monotonic()}`),
  });
  return {
    clock,
    seen,
    dog,
    change: (next: SilenceLimits) => {
      current = next;
    },
  };
}

it("aborts exactly after the limit of silence, counted from the last sign of life", async () => {
  const { clock, seen, dog } = setUp({ abortAfterMs: 75_000 });
  await clock.advance(50_000);
  dog.touch();
  await clock.advance(74_999);
  expect(seen).toEqual([]);
  await clock.advance(1);
  expect(seen).toEqual(["abort @125000"]);
  await clock.advance(200_000);
  expect(seen).toHaveLength(1);
});

it("warns at the first limit and then at intervals, anew after each sign of life", async () => {
  const { clock, seen, dog } = setUp({ abortAfterMs: 35_000, warnAfterMs: 10_000, warnEveryMs: 10_000 });
  await clock.advance(20_000);
  dog.touch();
  await clock.advance(40_000);
  expect(seen).toEqual([
    "warn 10000 @10000",
    "warn 20000 @20000",
    "warn 10000 @30000",
    "warn 20000 @40000",
    "warn 30000 @50000",
    "abort @55000",
  ]);
});

it("follows limits that change on the way", async () => {
  const { clock, seen, change } = setUp({ abortAfterMs: 100, warnAfterMs: 50 });
  change({ abortAfterMs: 80 });
  await clock.advance(1_000);
  expect(seen).toEqual(["abort @80"]);
});

it("is quiet and leaves no timer once stopped", async () => {
  const { clock, seen, dog } = setUp({ abortAfterMs: 100 });
  dog.stop();
  await clock.advance(1_000);
  expect(seen).toEqual([]);
  expect(clock.pending).toBe(0);
});
