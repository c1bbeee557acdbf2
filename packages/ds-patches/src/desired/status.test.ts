import { expect, it } from "vitest";
import { type Counters, completes } from "./status.ts";

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
