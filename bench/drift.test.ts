import { type SoakFigures, violations } from "@quartet/e2e/core/support/drift.ts";
import { expect, it } from "vitest";

/** Thirty minutes with a sample every half minute. */
const samples = Array.from({ length: 60 }, (_, index) => ({ at: 30_000 * index, rssMib: 100, sockets: 20 }));
const good: SoakFigures = {
  minutes: 30,
  samples,
  heapMib: [50, 52],
  lagP99Ms: 20,
  machineLagP99Ms: 1,
  difference: undefined,
  exitCode: 0,
};

it("a run whose figures stay is no violation, whatever the warm-up was", () => {
  const warm = samples.map((sample) =>
    sample.at < 300_000 ? { ...sample, rssMib: 40, sockets: 5 } : sample,
  );
  expect(violations({ ...good, samples: warm })).toEqual([]);
});

it("tells of growing memory, sockets, lag, a cache that differs, and a bad end", () => {
  const leak = samples.map((sample, index) => ({ ...sample, rssMib: 100 + 2 * index, sockets: 20 + index }));
  const bad: SoakFigures = {
    ...good,
    samples: leak,
    heapMib: [50, 56],
    lagP99Ms: 150,
    difference: "the cache differs",
    exitCode: 1,
  };
  expect(violations(bad)).toEqual([
    "memory in use grew from 50.0 to 56.0 MiB",
    "resident memory since minute 10 grew from 140.0 to 216.0 MiB",
    "open sockets grew from 42 to 72",
    "event-loop lag p99 is 150 ms, more than 50 ms beyond the machine's own 1 ms",
    "the cache differs",
    "the manager ended with exit code 1",
  ]);
});

it("leaves resident memory out of a short run, and the machine's own lag out of the program's", () => {
  const leak = samples.map((sample, index) => ({ ...sample, rssMib: 100 + 2 * index }));
  expect(violations({ ...good, minutes: 2, samples: leak, lagP99Ms: 150, machineLagP99Ms: 110 })).toEqual([]);
});

it("says nothing good of a run without samples", () => {
  expect(violations({ ...good, samples: [] })).toEqual(["too few samples to say anything: run longer"]);
});
