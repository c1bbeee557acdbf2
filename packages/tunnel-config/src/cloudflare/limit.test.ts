import { systemClock } from "@quartet/core";
import { expect, it } from "vitest";
import { createBudget } from "./budget.ts";
import { limitOf } from "./limit.ts";

it("TUN-1003 the API's word on the calls that are left is read, and anything else is none", () => {
  const policy = { "ratelimit-policy": '"default";q=600;w=300' };
  expect(limitOf({ ratelimit: '"default";r=50;t=30', ...policy })).toEqual({
    left: 50,
    of: 600,
    resetMs: 30_000,
  });
  expect(limitOf({ ratelimit: '"default"; r=50; t=30' })).toMatchObject({ left: 50, of: 1200 });
  for (const ratelimit of ["", "r", '"default";r=x;t=3', '"default";t=3'])
    expect(limitOf({ ratelimit })).toBeUndefined();
  expect(limitOf({})).toBeUndefined();
});

it("TUN-1003 while less than a tenth of the calls is left comparisons wait, and nothing else does", () => {
  const budget = createBudget(1000, systemClock);
  budget.told(119, 1200, 30_000);
  expect([budget.waitMs("check") > 29_000, budget.waitMs("config"), budget.waitMs()]).toEqual([true, 0, 0]);
  budget.told(120, 1200, 30_000);
  expect(budget.waitMs("check")).toBe(0);
});
