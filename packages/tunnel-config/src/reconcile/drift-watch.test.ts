import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { createDriftWatch } from "./drift-watch.ts";

it("TUN-632 compares an interval after the last comparison or transmission, and never without one", async () => {
  const clock = fakeClock();
  const watch = createDriftWatch(10_000, clock);
  expect([watch.due("a"), watch.next("a")]).toEqual([false, { requeueAfter: 10_000 }]);
  await clock.advance(9_000);
  watch.checked("a");
  await clock.advance(9_000);
  expect([watch.due("a"), watch.next("a")]).toEqual([false, { requeueAfter: 1_000 }]);
  await clock.advance(1_000);
  expect(watch.due("a")).toBe(true);
  const never = createDriftWatch(0, clock);
  expect([never.due("a"), never.next("a")]).toEqual([false, {}]);
});

it("TUN-634 overwrites somebody else three times in ten minutes, then not for an hour", async () => {
  const clock = fakeClock();
  const watch = createDriftWatch(10_000, clock);
  expect([1, 2, 3, 4].map(() => watch.mayOverwrite("a"))).toEqual([true, true, true, false]);
  expect(watch.mayOverwrite("b")).toBe(true);
  await clock.advance(3_599_000);
  expect(watch.mayOverwrite("a")).toBe(false);
  await clock.advance(1_001);
  expect(watch.mayOverwrite("a")).toBe(true);
});
