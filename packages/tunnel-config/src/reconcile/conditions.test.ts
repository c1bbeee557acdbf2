import { expect, it } from "vitest";
import { withConditions } from "./conditions.ts";

it("TUN-006 a condition has the time of its last change of status, and the generation that it is about", () => {
  const at = (seconds: number): number => Date.parse("2026-01-01T00:00:00Z") + seconds * 1000;
  const ready = { type: "Ready", on: false, reason: "Pending" };
  const first = withConditions(undefined, [ready], 1, at(0));
  const told = withConditions(first, [{ ...ready, message: "still" }], 2, at(10));
  expect(told).toEqual([
    {
      type: "Ready",
      status: "False",
      reason: "Pending",
      message: "still",
      observedGeneration: 2,
      lastTransitionTime: first[0]?.lastTransitionTime,
    },
  ]);
  const other = { type: "Other", on: true, reason: "Yes" };
  const turned = withConditions(told, [{ ...ready, on: true, reason: "Done" }, other], 2, at(20));
  expect(turned.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime])).toEqual([
    ["Ready", "True", "2026-01-01T00:00:20Z"],
    ["Other", "True", "2026-01-01T00:00:20Z"],
  ]);
});
