import { describe, expect, it } from "vitest";
import { closest, didYouMean, editDistance } from "./closest.ts";

describe("close names", () => {
  it.each([
    ["", "", 0],
    ["abc", "", 3],
    ["tars", "tras", 1],
    ["nacos", "nacso", 1],
    ["kitten", "sitting", 3],
  ])("measures %j and %j as %d apart", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  it("offers the nearest three, nearest first, and nothing far away", () => {
    const known = ["leader-elect", "lease-duration", "log-level", "log-format", "warmup"];
    expect(closest("leader-elec", known)).toEqual(["leader-elect"]);
    expect(closest("log-levle", known)).toEqual(["log-level"]);
    expect(closest("zzzzzz", known)).toEqual([]);
    expect(closest("abcd", ["abce", "abcf", "abcg", "abch"])).toHaveLength(3);
  });

  it("phrases a suggestion", () => {
    expect(didYouMean([])).toBe("");
    expect(didYouMean(["--a"])).toBe("; did you mean --a?");
    expect(didYouMean(["--a", "--b", "--c"])).toBe("; did you mean --a, --b or --c?");
  });
});
