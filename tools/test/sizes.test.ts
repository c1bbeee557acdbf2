import { expect, it } from "vitest";
import { notOnDouble, readArguments, realTests } from "./sizes.ts";

it("CORE-453 a run has three sizes, and whoever names tests gets them whatever their size", () => {
  expect(readArguments([])).toEqual({ size: "first", full: true, rest: [] });
  expect(readArguments(["--all"])).toEqual({ size: "all", full: true, rest: [] });
  expect(readArguments(["--long"])).toEqual({ size: "long", full: true, rest: [] });
  expect(readArguments(["e2e/core", "-t", "A3"])).toEqual({
    size: "long",
    full: false,
    rest: ["e2e/core", "-t", "A3"],
  });
});

it("CORE-453 the sizes differ on the real control plane: first scenarios, all but the long, everything", () => {
  const all = ["packages/*/test/**/*.scenario.ts"];
  const longest = expect.stringContaining(".longest.");
  expect(realTests("first", all).include).not.toEqual(all);
  expect(realTests("all", all)).toEqual({
    include: all,
    exclude: [expect.stringContaining(".long."), longest],
  });
  expect(realTests("long", all)).toEqual({ include: all, exclude: [] });
  expect(notOnDouble("first")).toHaveLength(3);
  expect(notOnDouble("all")).toEqual([longest, expect.stringContaining(".real.")]);
  expect(notOnDouble("long")).toEqual([]);
});
