import { describe, expect, it } from "vitest";
import type { Health } from "../health/evaluate.ts";
import { createMemoryStore, noteGeneration, noteHealth, noteRollout } from "./memory.ts";

const down: Health = { state: "failed", code: 401, reason: "r", message: "m", nodes: [] };
const few: Health = { ...down, code: -1 };
const up: Health = { state: "passed", nodes: [], versions: new Map() };
const fresh = () => createMemoryStore().of("t/demo", "u");

describe("memory of a resource", () => {
  it("NACOS-1002 begins anew for another resource of the same name, and after it was forgotten", () => {
    const store = createMemoryStore();
    store.of("t/demo", "u1").nacosFailures = 2;
    expect(store.of("t/demo", "u1").nacosFailures).toBe(2);
    expect(store.of("t/demo", "u2").nacosFailures).toBe(0);
    store.forget("t/demo");
    expect(store.of("t/demo", "u2").nacosFailures).toBe(0);
  });

  it("NACOS-913 counts failed checks in a row that lie five seconds apart", () => {
    const memory = fresh();
    const counts = [0, 1_000, 4_999, 5_000, 9_000, 10_000].map((now) => {
      noteHealth(memory, down, now);
      return memory.nacosFailures;
    });
    expect(counts).toEqual([1, 1, 1, 2, 2, 3]);
    noteHealth(memory, few, 20_000);
    expect(memory.nacosFailures).toBe(0);
    noteHealth(memory, down, 30_000);
    noteHealth(memory, up, 31_000);
    expect(memory.nacosFailures).toBe(0);
  });

  it("NACOS-913 knows when the spec changed, and takes a generation in the status for an old one", () => {
    const memory = fresh();
    noteGeneration(memory, 3, 3, 100);
    expect(memory).not.toHaveProperty("specChangedAt");
    noteGeneration(memory, 4, 3, 200);
    noteGeneration(memory, 4, 4, 300);
    expect(memory.specChangedAt).toBe(200);
  });

  it("NACOS-474 measures a rollout from its begin, also one of an earlier process, and anew for a new target", () => {
    const memory = fresh();
    noteRollout(memory, true, "r1", 500, 100);
    noteRollout(memory, true, "r1", 600, undefined);
    expect(memory.rolloutSince).toBe(100);
    noteRollout(memory, true, "r2", 700, undefined);
    expect(memory.rolloutSince).toBe(700);
    noteRollout(memory, false, "r2", 800, undefined);
    expect(memory).not.toHaveProperty("rolloutSince");
  });
});
