import { expect, it } from "vitest";
import { memoryMeasure, resultTable } from "./table.ts";

const measures = [
  { id: "B1", title: "create", unit: "s" },
  { id: "B3 p99", title: "change", unit: "ms" },
  memoryMeasure(1000, "metadata"),
];

it("shows medians with their spread and the ratio of the medians", () => {
  const ours = new Map([
    ["B1", [5, 4, 6]],
    ["B3 p99", [12]],
    ["B4 1000 metadata", [80, 80]],
  ]);
  const theirs = new Map([
    ["B1", [10]],
    ["B3 p99", [24]],
  ]);
  expect(resultTable(measures, ours, theirs).split("\n").slice(2)).toEqual([
    "| B1 | create (s) | 5.00 (4.00–6.00) | 10.0 | 0.50 |",
    "| B3 p99 | change (ms) | 12.0 | 24.0 | 0.50 |",
    "| B4 | RSS with 1000 pods cached, metadata (MiB) | 80.0 | – | – |",
  ]);
});

it("CORE-602 says so where the Go toolchain is missing", () => {
  const text = resultTable(measures, new Map([["B1", [5]]]), undefined);
  expect(text).toContain("| B1 | create (s) | 5.00 | NOT RUN (no Go) | – |");
});
