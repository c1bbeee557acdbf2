import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError } from "../client/errors.ts";
import { problemOf } from "./problem.ts";

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

describe("problemOf", () => {
  it("CORE-317 names verb, resource and object of what is forbidden, in the server's own words", () => {
    const { reason, message, cause } = problemOf("ConfigMap demo", refusal(403, "Forbidden"));
    expect({ reason, cause }).toEqual({ reason: "Forbidden", cause: "refused" });
    expect(message).toContain("ConfigMap demo: POST /api/v1/namespaces/t/configmaps is forbidden");
    expect(message).toContain("the server's words");
  });

  it("CORE-317 takes the denial of a policy or webhook for what it is, whatever its code", () => {
    const words = "ValidatingAdmissionPolicy 'no' with binding 'no' denied request: not on Fridays";
    const denial = problemOf("Job x", refusal(422, "Invalid", [{ message: "not on Fridays" }], words));
    expect(denial).toMatchObject({ cause: "refused", reason: "Forbidden" });
    expect(denial.message).toContain("not on Fridays");
    const long = problemOf(
      "Job x",
      refusal(403, "Forbidden", [], `Bearer abcdefghijkl ${"x".repeat(100_000)}`),
    );
    expect(long.message.length).toBeLessThan(700);
    expect(long.message).not.toContain("abcdefghijkl");
  });

  it("CORE-317 names a webhook that does not answer, but not where it stands", () => {
    const words =
      'Internal error occurred: failed calling webhook "guard.example.org": failed to call webhook: Post "https://10.0.0.7:8443/?timeout=1s": dial tcp 10.0.0.7:8443: connect: connection refused';
    const problem = problemOf("Service x", refusal(500, "InternalError", [{ message: words }], words));
    expect(problem).toMatchObject({ cause: "unavailable", reason: "InternalError" });
    expect(problem.message).toContain('failed calling webhook "guard.example.org"');
    expect(problem.message).not.toContain("10.0.0.7");
  });

  it("CORE-317 names fields and kinds of faults, without the values that the server quotes", () => {
    const causes = [{ field: "spec.x", reason: "FieldValueInvalid", message: "MARK-value" }];
    const problem = problemOf("StatefulSet demo", refusal(422, "Invalid", causes));
    expect(problem).toMatchObject({ cause: "invalid", reason: "Invalid" });
    expect(problem.message).toContain("spec.x FieldValueInvalid");
    expect(problem.message).not.toContain("MARK");
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
  ])("CORE-317 names a value that the server cannot read: %s", (words, told) => {
    const text = `StatefulSet in version "v1" cannot be handled as a StatefulSet: ${words}`;
    const problem = problemOf("StatefulSet demo", refusal(400, "BadRequest", [], text));
    expect(problem.cause).toBe("invalid");
    expect(problem.message).toBe(`StatefulSet demo: the API server answered 400 BadRequest: ${told}`);
  });

  it("CORE-317 tells a namespace that goes, and a server that is away, from refusals", () => {
    const going = refusal(403, "Forbidden", [{ reason: "NamespaceTerminating" }]);
    expect(problemOf("Service x", going)).toMatchObject({
      cause: "terminating",
      reason: "NamespaceTerminating",
    });
    const away = new ConnectionError({ code: "ECONNRESET", message: "reset", method: "GET", path: "/" });
    expect(problemOf("Service x", away)).toMatchObject({ cause: "unavailable", reason: "ConnectionFailed" });
  });

  it("CORE-317 throws conflicts on, and what is no answer of the API server", () => {
    expect(() => problemOf("x", new TypeError("fault"))).toThrow(TypeError);
    expect(() => problemOf("x", refusal(409, "Conflict"))).toThrow(ApiError);
  });
});
