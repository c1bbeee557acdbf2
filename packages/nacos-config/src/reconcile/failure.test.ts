import { ApiError } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { claimFailure, podSpecRejection, stepFailure } from "./failure.ts";

const refusal = (
  code: number,
  reason: string,
  causes: { field?: string; reason?: string; message?: string }[] = [],
  message = "the server's words with MARK-value",
): ApiError =>
  new ApiError({
    code,
    reason,
    message,
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

  it.each([
    [
      "json: cannot unmarshal number 5.5 into Go struct field PodSpec.spec.template.spec.priority of type int32",
      "spec.template.spec.priority must be of type int32",
    ],
    [
      "json: cannot unmarshal string into Go struct field spec.template.spec.volumes of type []v1.Volume",
      "spec.template.spec.volumes must be of type []v1.Volume",
    ],
    ["quantities must match the regular expression '^x$': 5.5", "a quantity is malformed"],
    ["unexpected end of 5.5", "a value is malformed"],
  ])("NACOS-450 names a value that the server cannot read: %s", (words, told) => {
    const text = `StatefulSet in version "v1" cannot be handled as a StatefulSet: ${words}`;
    const failure = podSpecRejection("StatefulSet demo", refusal(400, "BadRequest", [], text));
    expect(failure).toMatchObject({ reason: "PodSpecRejected", condition: "SpecValid", code: 301 });
    expect(failure.message).toBe(`StatefulSet demo: the API server answered 400 BadRequest: ${told}`);
    expect(failure.message).not.toContain("5.5");
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
