import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["100ms", 100],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["5ns", 0.000005],
    ["0", 0],
    ["0s", 0],
    ["-1s", -1_000],
    ["+2m", 120_000],
    ["1m1m", 120_000],
  ])("CORE-390 reads %s as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each(["10", "1.5", "-3"])("CORE-390 refuses %s for its missing unit", (text) => {
    expect(() => parseDuration(text)).toThrow(/lacks a unit/);
  });

  it.each(["", "-", "s", "5 s", "5sec", "1d", "1h-5m", "1h 5m", "..s", "abc", "5s!"])(
    "refuses %j",
    (text) => {
      expect(() => parseDuration(text)).toThrow(/is not a duration/);
    },
  );

  it.each([
    [0, "0s"],
    [15_000, "15s"],
    [90_000, "1m30s"],
    [36_000_000, "10h"],
    [5_400_000, "1h30m"],
    [1_500, "1.5s"],
    [250, "250ms"],
    [-1_000, "-1s"],
  ])("prints %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("prints what it reads back", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e10, max: 1e10 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 6);
      }),
    );
  });
});
