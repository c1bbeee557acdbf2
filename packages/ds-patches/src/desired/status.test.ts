import { expect, it } from "vitest";
import type { PodFacts } from "./objects.ts";
import { type Counters, completes, countNodes, countPatches } from "./status.ts";

const NOTHING = {
  desiredNumberScheduled: 3,
  currentNumberScheduled: 0,
  updatedNumberScheduled: 0,
  numberReady: 0,
};
const PODS = { ...NOTHING, currentNumberScheduled: 3, updatedNumberScheduled: 3 };
const READY = { ...PODS, numberReady: 3, numberAvailable: 3 };

it.each<[string, Partial<Counters>, Partial<Counters>, boolean]>([
  ["the first of three pods", { ...NOTHING, currentNumberScheduled: 1 }, NOTHING, false],
  ["the last pod", PODS, NOTHING, true],
  ["the second that is ready", { ...PODS, numberReady: 2 }, { ...PODS, numberReady: 1 }, false],
  ["the last that is ready", { ...PODS, numberReady: 3 }, PODS, true],
  ["the last that is available", READY, { ...PODS, numberReady: 3 }, true],
  ["a pod that is ready no more", { ...READY, numberReady: 2, numberAvailable: 2 }, READY, false],
  ["the last node of three goes", { desiredNumberScheduled: 0 }, NOTHING, true],
  ["another node, with its pod", { ...READY, desiredNumberScheduled: 4 }, READY, false],
])("DSP-830 what completes the work is told at once: %s", (_case, next, before, expected) => {
  expect(completes(next, before)).toBe(expected);
});

const RUNS = { shouldRun: true, shouldContinue: true };
const pod = (name: string, more: Partial<PodFacts> = {}): PodFacts => ({
  ...{ name, uid: name, node: "n", scheduled: true, created: 1, phase: "Running" },
  ...{ readySince: 1_000, current: true, preparingDelete: false },
  ...more,
});

it("DSP-827 DSP-828 a node is judged by its oldest pod, and one that may not run here is misscheduled", () => {
  const nodes = [
    { name: "n1", eligibility: RUNS, pods: [pod("new", { created: 2 }), pod("old", { current: false })] },
    { name: "n2", eligibility: RUNS, pods: [pod("young", { readySince: 9_000 })] },
    { name: "n3", eligibility: RUNS, pods: [] },
    { name: "n4", eligibility: { shouldRun: false, shouldContinue: true }, pods: [pod("kept")] },
  ];
  expect(countNodes(nodes, { minReadyMs: 5_000, now: 10_000 })).toEqual({
    ...{ desiredNumberScheduled: 3, currentNumberScheduled: 2, numberMisscheduled: 1 },
    ...{ updatedNumberScheduled: 1, numberReady: 2, numberAvailable: 1, numberUnavailable: 2 },
  });
});

it("DSP-833 of each patch the nodes are told that it matches, and those of them that run it", () => {
  const nodes = [
    { name: "n1", eligibility: RUNS, pods: [pod("a")], patchIndexes: [0, 1] },
    { name: "n2", eligibility: RUNS, pods: [pod("b", { current: false })], patchIndexes: [1] },
    {
      name: "n3",
      eligibility: { shouldRun: false, shouldContinue: true },
      pods: [pod("c")],
      patchIndexes: [1],
    },
  ];
  expect(countPatches(3, nodes)).toEqual([
    { index: 0, matchedNodes: 1, updatedNodes: 1 },
    { index: 1, matchedNodes: 2, updatedNodes: 1 },
    { index: 2, matchedNodes: 0, updatedNodes: 0 },
  ]);
});
