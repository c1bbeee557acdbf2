import type { Problem } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { failureOf, podSpecFailure } from "./failure.ts";

const problem: Problem = { cause: "invalid", reason: "Invalid", message: "StatefulSet demo: spec.x" };

describe("failure of a step", () => {
  it("NACOS-450 a pod spec that the server does not take is a fault of the spec, what it forbids is none", () => {
    expect(podSpecFailure(problem)).toEqual({
      reason: "PodSpecRejected",
      message: "StatefulSet demo: spec.x",
      condition: "SpecValid",
      code: 301,
    });
    const refused = podSpecFailure({ ...problem, cause: "refused", reason: "Forbidden", retryAfterMs: 5 });
    expect(refused).toEqual({
      reason: "Forbidden",
      message: "StatefulSet demo: spec.x",
      code: -1,
      retryAfterMs: 5,
    });
    expect(failureOf(problem, { condition: "DatabaseReady" })).toMatchObject({ condition: "DatabaseReady" });
  });
});
