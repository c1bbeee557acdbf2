import { describe, expect, it } from "vitest";
import type { R2Bucket } from "../api.gen.ts";
import { bucketProblem, corsRules, lifecycleRules } from "./r2-bucket.ts";

const bucket = (spec: R2Bucket["spec"], name = "data"): R2Bucket => ({
  apiVersion: "networking.cloudflare-operator.io/v1alpha2",
  kind: "R2Bucket",
  metadata: { name },
  spec: spec ?? {},
});
const lifecycle = (rule: object): R2Bucket => bucket({ lifecycle: [rule] });

describe("buckets", () => {
  it("TUN-942 days are seconds, a day is midnight in UTC, and a rule without a name has that of its place", () => {
    const rules = [
      { expiration: { days: 7 }, prefix: "tmp/" },
      { id: "x", enabled: false, expiration: { date: "2026-12-31" } },
      { abortIncompleteMultipartUpload: { daysAfterInitiation: 1 } },
    ];
    expect(lifecycleRules({ lifecycle: rules })).toEqual([
      {
        id: "rule-1",
        enabled: true,
        conditions: { prefix: "tmp/" },
        deleteObjectsTransition: { condition: { type: "Age", maxAge: 604_800 } },
      },
      {
        id: "x",
        enabled: false,
        conditions: { prefix: "" },
        deleteObjectsTransition: { condition: { type: "Date", date: "2026-12-31T00:00:00Z" } },
      },
      {
        id: "rule-3",
        enabled: true,
        conditions: { prefix: "" },
        abortMultipartUploadsTransition: { condition: { type: "Age", maxAge: 86_400 } },
      },
    ]);
  });

  it("TUN-942 rules for other origins in the words of the API", () => {
    const rule = {
      id: "x",
      allowedOrigins: ["*"],
      allowedMethods: ["GET"],
      allowedHeaders: ["a"],
      maxAgeSeconds: 0,
    };
    expect(corsRules({ cors: [rule] })).toEqual([
      { id: "x", allowed: { origins: ["*"], methods: ["GET"], headers: ["a"] }, maxAgeSeconds: 0 },
    ]);
  });

  it.each([
    [lifecycle({ id: "x" }), /lifecycle\[0\]: does nothing/],
    [lifecycle({ expiration: {} }), /does nothing/],
    [lifecycle({ expiration: { days: 1, date: "2026-01-01" } }), /exclude each other/],
    [lifecycle({ expiration: { date: "soon" } }), /soon is no day/],
    [bucket({ lifecycle: [1, 2].map(() => ({ id: "x", expiration: { days: 1 } })) }), /lifecycle\[1\].id: x/],
    [bucket({}, "my.bucket"), /my.bucket, is no name of a bucket .*set spec.name/],
  ])("TUN-942 what cannot be is refused with its place: %#", (object, message) => {
    expect(bucketProblem(object)).toMatch(message);
  });
});
