import { expect, it } from "vitest";
import { type Backoff, backOff, NO_BACKOFF } from "./faults.ts";

function delays(count: number, random: () => number, everyMs = 1_000): number[] {
  let backoff: Backoff = NO_BACKOFF;
  const seen: number[] = [];
  for (let i = 0; i < count; i++) {
    const next = backOff(backoff, i * everyMs, random);
    backoff = next.backoff;
    seen.push(next.delayMs);
  }
  return seen;
}

it("CORE-169 waits 0.8 s, doubles, and stops growing at 30 s", () => {
  expect(delays(8, () => 0)).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
});

it("CORE-169 adds up to 100 % jitter", () => {
  expect(delays(3, () => 0.5)).toEqual([1_200, 2_400, 4_800]);
  expect(delays(7, () => 0.999).at(-1)).toBeCloseTo(59_970);
});

it("CORE-169 starts over after more than 2 min without a failure, and not before", () => {
  expect(delays(3, () => 0, 120_000)).toEqual([800, 1_600, 3_200]);
  expect(delays(3, () => 0, 120_001)).toEqual([800, 800, 800]);
});
