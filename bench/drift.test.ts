import { expect, it } from "vitest";
import { violations } from "./drift.ts";

const flat = Array.from({ length: 40 }, () => ({ rssMib: 100, openFiles: 20 }));

it("a run whose figures stay is no violation, whatever the warm-up was", () => {
  const warm = flat.map((sample, index) => (index < 10 ? { rssMib: 40, openFiles: 5 } : sample));
  expect(violations(warm, 20)).toEqual([]);
});

it("tells of growing memory, open files and lag", () => {
  const leak = flat.map((_, index) => ({ rssMib: 100 + 2 * index, openFiles: 20 + index }));
  expect(violations(leak, 150)).toEqual([
    "RSS grew from 129 to 169 MiB",
    "open files grew from 34.5 to 54.5",
    "event-loop lag p99 is 150 ms, more than 50 ms",
  ]);
});

it("says nothing good of a run without samples", () => {
  expect(violations([], 0)).toEqual(["too few samples to say anything: run longer"]);
});
