import { expect, it } from "vitest";
import type { TestRecord } from "../rules/coverage.ts";
import { summary } from "./summary.ts";

const record = (title: string, more: Partial<TestRecord> = {}): TestRecord => ({
  project: "real",
  file: "e2e/core/a.scenario.ts",
  title,
  state: "passed",
  milliseconds: 1500,
  ...more,
});

it("a scenario has one line with its times on both servers", () => {
  const text = summary([record("A1"), record("A1", { project: "double", milliseconds: 200 })], []);
  expect(text).toContain("     0.2     1.5  A1");
});

it("CORE-453 names the part that takes more of the real control plane than its budget", () => {
  const file = (path: string, project: string, milliseconds: number) => ({
    project,
    file: path,
    milliseconds,
  });
  const text = summary(
    [],
    [
      file("packages/nacos-config/test/a.scenario.ts", "real", 1_000_000),
      file("packages/nacos-config/test/b.scenario.ts", "real", 60_000),
      file("e2e/core/a.scenario.ts", "real", 900_000),
      file("e2e/core/a.scenario.ts", "double", 9_000),
    ],
  );
  expect(text).toContain(
    "       0       0    1060  nacos-config: takes 212 s of the run on the real control plane, more than 210",
  );
  expect(text).toMatch(/ {7}0 {7}9 {5}900 {2}e2e\/core$/m);
});

it("ends with the totals, after the failed tests with their errors", () => {
  const text = summary(
    [
      record("A1"),
      record("A2", { state: "failed", error: "first\nsecond" }),
      record("A3", { state: "skipped" }),
    ],
    [],
  );
  expect(text).toContain("failed\nreal e2e/core/a.scenario.ts > A2\n    first\n    second");
  expect(text).toContain("real: 1 passed, 1 failed");
  expect(text.endsWith("\n1 passed, 1 failed, 1 skipped")).toBe(true);
});
