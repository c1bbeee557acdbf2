import { expect, it } from "vitest";
import { createByteBudget } from "./budget.ts";

it("NACOS-1012 limits one account, and all of them together but for what each is assured", () => {
  const budget = createByteBudget({ each: 100, total: 150, assured: 10 });
  const first = budget.open();
  expect(first.take(60)).toBe(true);
  expect(first.take(40)).toBe(true);
  expect(first.take(1)).toBe(false);
  const second = budget.open();
  expect(second.take(40)).toBe(true);
  expect(second.take(10)).toBe(false);
  const third = budget.open();
  expect(third.take(10)).toBe(true);
  expect(third.take(1)).toBe(false);
  for (const account of [first, second, third]) account.close();
  expect(budget.open().take(100)).toBe(true);
});
