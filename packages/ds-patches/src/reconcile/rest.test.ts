import { expect, it } from "vitest";
import { restAfter } from "./rest.ts";

it.each([
  [0, 0],
  [199, 0],
  [200, 20],
  [1_000, 100],
  [5_000, 500],
])("DSP-1051 after a pass over %d nodes the next one waits %d ms", (nodes, ms) => {
  expect(restAfter(nodes)).toBeCloseTo(ms);
});
