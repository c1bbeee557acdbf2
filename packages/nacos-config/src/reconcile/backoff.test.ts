import { createChildMemory } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { retryDelay } from "./backoff.ts";
import type { ResourceMemory } from "./memory.ts";

describe("wait before the next pass", () => {
  it("NACOS-203 doubles from 5 s to 60 s while the same failure repeats in its own time", () => {
    const memory: ResourceMemory = { uid: "u", children: createChildMemory(), nacosFailures: 0 };
    let now = 0;
    const delays = Array.from({ length: 6 }, () => {
      const delay = retryDelay(memory, "Forbidden", now);
      now += delay;
      return delay;
    });
    expect(delays).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it("NACOS-203 begins anew for another failure, and after a pass that a change brought about", () => {
    const memory: ResourceMemory = { uid: "u", children: createChildMemory(), nacosFailures: 0 };
    retryDelay(memory, "a", 0);
    expect(retryDelay(memory, "a", 5_000)).toBe(10_000);
    expect(retryDelay(memory, "b", 15_000)).toBe(5_000);
    expect(retryDelay(memory, "b", 16_000)).toBe(5_000);
  });
});
