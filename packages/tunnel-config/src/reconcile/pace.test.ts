import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { createPace } from "./pace.ts";

it("TUN-613 changes that are apart go at once, each", async () => {
  const clock = fakeClock();
  const pace = createPace(500, clock);
  for (const hash of ["a", "b", "c"]) {
    expect(pace.wait("t", hash)).toBe(0);
    pace.sending("t");
    await clock.advance(20_000);
  }
});

it("TUN-613 what has not changed for half a second goes, however little time has passed since the last transmission", async () => {
  const clock = fakeClock();
  const pace = createPace(500, clock);
  pace.sending("t");
  await clock.advance(600);
  expect(pace.wait("t", "a")).toBe(500);
  await clock.advance(300);
  expect(pace.wait("t", "b")).toBe(500);
  await clock.advance(200);
  expect(pace.wait("t", "b")).toBe(300);
  expect(pace.wait("other", "b")).toBe(0);
  await clock.advance(300);
  expect(pace.wait("t", "b")).toBe(0);
});

it("TUN-613 a burst of a hundred seconds is five transmissions, and one without an end is one in forty seconds", async () => {
  const clock = fakeClock();
  const pace = createPace(500, clock);
  const times: number[] = [];
  for (let second = 5; second <= 300; second += 1) {
    if (pace.wait("t", String(second)) === 0) {
      pace.sending("t");
      times.push(second);
    }
    await clock.advance(1_000);
  }
  expect(times).toEqual([5, 15, 35, 75, 115, 155, 195, 235, 275]);
});
