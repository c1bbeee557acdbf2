import type { Clock, Logger } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { heapLimit, watchHeap } from "./heap.ts";

const GIB = 1024 ** 3;
const none = { totalMemory: 16 * GIB, execArgv: [], nodeOptions: undefined };

describe("heap limit", () => {
  it("CORE-531 is 75 % of the container's memory", () => {
    expect(heapLimit({ ...none, constrainedMemory: GIB })).toBe(768);
    expect(heapLimit({ ...none, constrainedMemory: 512 * 1024 * 1024 })).toBe(384);
  });

  it.each([
    ["the memory is not limited", { ...none, constrainedMemory: 0 }],
    ["the limit is that of the machine", { ...none, constrainedMemory: 16 * GIB }],
    ["the limit is the kernel's largest number", { ...none, constrainedMemory: 2 ** 63 }],
    ["a flag sets it", { ...none, constrainedMemory: GIB, execArgv: ["--max-old-space-size=100"] }],
    [
      "a flag with underscores sets it",
      { ...none, constrainedMemory: GIB, execArgv: ["--max_old_space_size=100"] },
    ],
    [
      "NODE_OPTIONS sets it",
      { ...none, constrainedMemory: GIB, nodeOptions: "--x --max-old-space-size=100" },
    ],
  ])("CORE-531 is left alone when %s", (_why, sources) => {
    expect(heapLimit(sources)).toBeUndefined();
  });

  it("CORE-531 warns once a minute while more than 90 % is in use", () => {
    let now = 0;
    let tick = (): void => {};
    const clock: Clock = {
      monotonic: () => now,
      now: () => now,
      setTimer(_ms, fn) {
        tick = fn;
        return () => {};
      },
    };
    const warnings: unknown[] = [];
    const log = { warn: (_msg: string, fields: unknown) => warnings.push(fields) } as unknown as Logger;
    let used = 89;
    watchHeap(clock, log, () => ({ used_heap_size: used * 1024 * 1024, heap_size_limit: 100 * 1024 * 1024 }));
    const run = (seconds: number): void => {
      for (let second = 0; second < seconds; second += 5) {
        now += 5_000;
        tick();
      }
    };
    run(60);
    expect(warnings).toEqual([]);
    used = 95;
    run(120);
    expect(warnings).toEqual([
      { usedMiB: 95, limitMiB: 100 },
      { usedMiB: 95, limitMiB: 100 },
    ]);
  });
});
