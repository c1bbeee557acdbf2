import { expect, it } from "vitest";
import { median, percentile, rotated } from "./statistics.ts";

it("percentile takes the nearest rank", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 50, 99, 100]);
  expect(percentile([], 0.5)).toBeNaN();
});

it("median sorts numbers as numbers and takes the mean of two middle ones", () => {
  expect(median([10, 9, 100])).toBe(10);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

it("CORE-601 every subject comes first once in as many rounds", () => {
  const rounds = [0, 1, 2].map((round) => rotated(["a", "b", "c"], round));
  expect(rounds).toEqual([
    ["a", "b", "c"],
    ["b", "c", "a"],
    ["c", "a", "b"],
  ]);
});
