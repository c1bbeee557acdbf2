import { ApiError } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { claimFailure, podSpecRejection, stepFailure } from "./failure.ts";

const refusal = (
  code: number,
  reason: string,
  causes: { field?: string; reason?: string; message?: string }[] = [],
): ApiError =>
  new ApiError({
    code,
    reason,
    message: "the server's words with MARK-value",
    details: { causes },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "POST",
    path: "/api/v1/namespaces/t/configmaps",
  });

describe("failure of a step", () => {
  it("NACOS-207 names verb, resource and object of what is forbidden", () => {
    const { reason, message, code } = stepFailure("ConfigMap demo-final", refusal(403, "Forbidden"));
    expect({ reason, code }).toEqual({ reason: "Forbidden", code: -1 });
    expect(message).toContain("ConfigMap demo-final");
    expect(message).toContain("POST /api/v1/namespaces/t/configmaps");
  });

  it("NACOS-450 NACOS-351 names fields and kinds of faults, without the values that the server quotes", () => {
    const causes = [{ field: "spec.x", reason: "FieldValueInvalid", message: "MARK-value" }];
    const failure = podSpecRejection("StatefulSet demo", refusal(422, "Invalid", causes));
    expect(failure).toMatchObject({ reason: "PodSpecRejected", condition: "SpecValid", code: 301 });
    expect(failure.message).toContain("spec.x FieldValueInvalid");
    expect(failure.message).not.toContain("MARK");
  });

  it("NACOS-116 tells a namespace that goes from other refusals", () => {
    const going = refusal(403, "Forbidden", [{ reason: "NamespaceTerminating" }]);
    expect(stepFailure("Service x", going).reason).toBe("NamespaceTerminating");
  });

  it("throws on what is no answer of the API server", () => {
    expect(() => stepFailure("x", new TypeError("fault"))).toThrow(TypeError);
  });

  it("NACOS-333 NACOS-1006 tells whose an object is", () => {
    expect(claimFailure("ConfigMap f", { state: "ours" })).toBeUndefined();
    expect(claimFailure("ConfigMap f", { state: "adoptable" })).toBeUndefined();
    const foreign = claimFailure(
      "ConfigMap f",
      { state: "foreign", owner: "Nacos other" },
      "FinalConfigConflict",
    );
    expect(foreign).toMatchObject({
      reason: "FinalConfigConflict",
      message: expect.stringContaining("Nacos other"),
    });
    expect(claimFailure("x", { state: "leaving" })?.reason).toBe("WaitingForGarbageCollection");
  });
});
