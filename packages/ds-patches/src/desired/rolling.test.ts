import { describe, expect, it } from "vitest";
import type { NodePlan } from "./manage.ts";
import type { PodFacts } from "./objects.ts";
import { budgetOf, nextAvailability, planRolling, type RollingSettings } from "./rolling.ts";

const RUNS = { shouldRun: true, shouldContinue: true };
const NOW = 1_000_000;
const SETTINGS: RollingSettings = {
  maxUnavailable: 1,
  maxSurge: 0,
  partition: 0,
  isSelected: () => true,
  minReadyMs: 0,
  now: NOW,
};

function pod(node: string, kind: "current" | "stale", more: Partial<PodFacts> = {}): PodFacts {
  const name = `${node}-${kind}`;
  return {
    name,
    uid: name,
    node,
    scheduled: true,
    created: kind === "stale" ? 1 : 2,
    phase: "Running",
    readySince: 500_000,
    current: kind === "current",
    preparingDelete: false,
    ...more,
  };
}

const on = (name: string, ...pods: PodFacts[]): NodePlan => ({ name, eligibility: RUNS, pods });
const stale = (name: string, more: Partial<PodFacts> = {}): NodePlan => on(name, pod(name, "stale", more));
const current = (name: string, more: Partial<PodFacts> = {}): NodePlan =>
  on(name, pod(name, "current", more));
const replaced = (nodes: NodePlan[], more: Partial<RollingSettings> = {}): string[] =>
  planRolling(nodes, { ...SETTINGS, ...more }).replace.map(({ node }) => node);
const NOT_READY = { readySince: undefined };

describe("rolling update", () => {
  it("DSP-802 percentages round up, and a budget of nothing is one", () => {
    expect(budgetOf({ maxUnavailable: "10%", maxSurge: 0 }, 11)).toEqual({ unavailable: 2, surge: 0 });
    expect(budgetOf({ maxUnavailable: 0, maxSurge: 0 }, 3)).toEqual({ unavailable: 1, surge: 0 });
    expect(budgetOf({ maxUnavailable: 0, maxSurge: "1%" }, 3)).toEqual({ unavailable: 0, surge: 1 });
  });

  it("DSP-804 the partition leaves the last of the order alone: current, empty, then stale nodes", () => {
    const three = [current("n1"), on("n2", pod("n2", "stale")), stale("n3")];
    expect(replaced(three, { maxUnavailable: 3 })).toEqual(["n3", "n2"]);
    expect(replaced(three, { maxUnavailable: 3, partition: 1 })).toEqual(["n3"]);
    expect(replaced(three, { maxUnavailable: 3, partition: 2 })).toEqual([]);
    expect(replaced(three, { maxUnavailable: 3, partition: 3 })).toEqual([]);
  });

  it("DSP-804 with a selector only its nodes are stale, and they come before the partition", () => {
    const canary = (...names: string[]) => ({ isSelected: (name: string) => names.includes(name) });
    const four = [stale("n1"), current("n2"), stale("n3"), stale("n4")];
    expect(replaced(four, { maxUnavailable: 4, partition: 1, ...canary("n3") })).toEqual(["n3"]);
    expect(replaced(four, { maxUnavailable: 4, partition: 2, ...canary("n1", "n3", "n4") })).toEqual(["n4"]);
  });

  it("DSP-806 five ready nodes and a budget of two: two at a time, and none while new pods are not ready", () => {
    const five = ["n1", "n2", "n3", "n4", "n5"];
    expect(
      replaced(
        five.map((name) => stale(name)),
        { maxUnavailable: 2 },
      ),
    ).toEqual(["n5", "n4"]);
    const half = [stale("n1"), stale("n2"), stale("n3"), current("n4", NOT_READY), current("n5", NOT_READY)];
    expect(replaced(half, { maxUnavailable: 2 })).toEqual([]);
    const next = [stale("n1"), stale("n2"), stale("n3"), current("n4"), current("n5")];
    expect(replaced(next, { maxUnavailable: 2 })).toEqual(["n3", "n2"]);
  });

  it("DSP-805 all stale pods that are not ready go at once, and use up the budget of the others", () => {
    const nodes = [stale("n1"), stale("n2", NOT_READY), stale("n3", NOT_READY)];
    expect(replaced(nodes, { maxUnavailable: 2 })).toEqual(["n3", "n2"]);
    expect(replaced(nodes, { maxUnavailable: 3 })).toEqual(["n3", "n2", "n1"]);
  });

  it("DSP-816 among equals the order of DSP-804 decides, whatever the order in which they are seen", () => {
    const nodes = ["a", "b", "c", "d", "e"].map((name) => stale(name));
    const first = replaced(nodes, { maxUnavailable: 2 });
    expect(first).toHaveLength(2);
    expect(replaced(nodes.toReversed(), { maxUnavailable: 2 })).toEqual(first);
    // A partition of three leaves the last of that order alone, so the same two are replaced.
    expect(replaced(nodes, { maxUnavailable: 2, partition: 3 })).toEqual(first);
  });

  it("DSP-807 ready pods that are not available yet go within the budget, before those that serve", () => {
    const young = ["n1", "n2", "n3", "n4", "n5"].map((name) => stale(name, { readySince: NOW - 10_000 }));
    expect(replaced(young, { minReadyMs: 60_000 })).toEqual(["n5"]);
    const mixed = [stale("n1", { readySince: NOW - 10_000 }), stale("n2")];
    expect(replaced(mixed, { minReadyMs: 60_000 })).toEqual(["n1"]);
  });

  it("DSP-803 nodes that are not eligible neither count nor are replaced", () => {
    const kept = { ...stale("n9", NOT_READY), eligibility: { shouldRun: false, shouldContinue: true } };
    expect(replaced([stale("n1"), kept])).toEqual(["n1"]);
    expect(replaced([stale("n1"), stale("n2"), kept], { maxUnavailable: "50%" })).toEqual(["n2"]);
  });

  it("DSP-808 surge adds pods beside stale ones, as many as are allowed in flight", () => {
    const surge = (nodes: NodePlan[], maxSurge = 2) =>
      planRolling(nodes, { ...SETTINGS, maxUnavailable: 0, maxSurge }).surge;
    const five = ["n1", "n2", "n3", "n4", "n5"].map((name) => stale(name));
    expect(surge(five)).toEqual(["n5", "n4"]);
    const both = (name: string) => on(name, pod(name, "stale"), pod(name, "current", NOT_READY));
    expect(surge([stale("n1"), stale("n2"), stale("n3"), both("n4"), both("n5")])).toEqual([]);
    expect(surge([stale("n1"), stale("n2"), stale("n3"), both("n4"), current("n5")])).toEqual(["n3"]);
    expect(surge([stale("n1"), stale("n2", NOT_READY), both("n3"), both("n4")])).toEqual(["n2"]);
    expect(surge([stale("n1"), stale("n2"), stale("n3"), stale("n4", NOT_READY)])).toEqual([
      "n4",
      "n3",
      "n2",
    ]);
  });

  it("DSP-738 DSP-808 a pod that waits for its hook holds up no surge, and is not replaced by one", () => {
    const surge = (nodes: NodePlan[]) =>
      planRolling(nodes, { ...SETTINGS, maxUnavailable: 0, maxSurge: 1 }).surge;
    const leaving = pod("n3", "stale", { preparingDelete: true });
    expect(surge([stale("n1"), stale("n2"), on("n3", leaving, pod("n3", "current"))])).toEqual(["n2"]);
    expect(surge([current("n1"), on("n3", leaving)])).toEqual([]);
  });

  it("DSP-813 a partition holds for changes of patches, over all considered nodes", () => {
    const nodes = [stale("n1"), stale("n2"), current("n3"), current("n4"), current("n5")];
    expect(replaced(nodes, { maxUnavailable: 5, partition: 3 })).toEqual([]);
    expect(replaced(nodes, { maxUnavailable: 5, partition: 1 })).toEqual(["n2"]);
    expect(replaced(nodes, { maxUnavailable: 5, partition: 0 })).toEqual(["n2", "n1"]);
  });

  it("DSP-738 a pod that is being prepared for its deletion takes the place of an unavailable one", () => {
    const nodes = [stale("n1"), stale("n2", { preparingDelete: true })];
    expect(replaced(nodes)).toEqual([]);
    expect(replaced(nodes, { maxUnavailable: 2 })).toEqual(["n1"]);
  });

  it("DSP-809 the next look is when a pod has been ready for long enough", () => {
    const pods = [pod("n1", "current", { readySince: NOW - 4_000 }), pod("n2", "current", NOT_READY)];
    expect(nextAvailability(pods, { minReadyMs: 10_000, now: NOW })).toBe(6_000);
    expect(nextAvailability(pods, { minReadyMs: 4_000, now: NOW })).toBeUndefined();
  });
});

it("DSP-511 the pod of a node whose template cannot be made is left alone, and the others are replaced", () => {
  expect(replaced([{ ...stale("n2"), broken: true }, stale("n1")])).toEqual(["n1"]);
});

it("DSP-810 DSP-825 a pod that is being updated in place counts as unavailable", () => {
  expect(replaced([stale("n1"), current("n2", { updating: true })])).toEqual([]);
  expect(replaced([stale("n1"), current("n2", { updating: false })])).toEqual(["n1"]);
});
