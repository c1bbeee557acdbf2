import { expect, it } from "vitest";
import { startDouble } from "../apiserver-double/index.ts";
import { allCases, defineConformance } from "./suite.testkit.ts";

defineConformance(() => startDouble(), "double");

/** Cases in which the double may differ from the real server. A new one needs a reason, and its number here. */
const REVIEWED_DIFFERENCES = 0;

it("CORE-499 at least 150 cases, each citing a rule, run on the double; the exceptions are known", () => {
  const cases = allCases();
  expect(cases.length).toBeGreaterThanOrEqual(150);
  for (const { name } of cases) expect(name).toMatch(/^CORE-\d{3} /);
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  const differing = cases.filter(({ doubleDiffers }) => doubleDiffers !== undefined);
  for (const { name, doubleDiffers } of differing) console.log(`double differs: ${name}: ${doubleDiffers}`);
  expect(differing.length).toBe(REVIEWED_DIFFERENCES);
  for (const { doubleDiffers } of differing) expect(doubleDiffers!.length).toBeGreaterThan(10);
});
