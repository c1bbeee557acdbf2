import fc from "fast-check";
import { expect, it } from "vitest";
import { objects, patches, RUNS, TELLING_FIELDS } from "../test/arbitraries.ts";
import { deepFreeze } from "../test/freeze.ts";
import { dropUnknownFields, strategicMerge } from "./index.ts";

const TAME = { fields: TELLING_FIELDS, wild: false };

it("DSP-439 takes out what the type does not have, and says where it stood", () => {
  const patch = deepFreeze({
    metadata: { labels: { anything: "goes" }, lables: { a: "b" } },
    spec: {
      containers: [{ name: "a", imge: "i", resources: { requests: { "x.y/gpu": "1" } } }],
      tolerations: [{ key: "k", ky: 1 }],
      template: {},
    },
  });
  expect(dropUnknownFields("PodTemplateSpec", patch)).toEqual({
    value: {
      metadata: { labels: { anything: "goes" } },
      spec: {
        containers: [{ name: "a", resources: { requests: { "x.y/gpu": "1" } } }],
        tolerations: [{ key: "k" }],
      },
    },
    unknown: ["metadata.lables", "spec.containers[0].imge", "spec.tolerations[0].ky", "spec.template"],
  });
});

it("DSP-439 leaves directives to the engine", () => {
  const patch = {
    spec: { "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "a", $patch: "delete" }] },
  };
  expect(dropUnknownFields("PodTemplateSpec", patch)).toEqual({ value: patch, unknown: [] });
});

it("DSP-439 never lets an unknown field into the result or the merge", () => {
  const odd = { spec: { oddList: [{ a: 1 }], oddMap: { a: {} } } };
  expect(() => strategicMerge("PodTemplateSpec", odd, odd)).toThrow("spec.oddList: unknown field of PodSpec");
  const { value } = dropUnknownFields("PodTemplateSpec", odd);
  expect(strategicMerge("PodTemplateSpec", { spec: { hostname: "h" } }, value)).toEqual({
    spec: { hostname: "h" },
  });
});

it("finds nothing in objects and patches of the type", () => {
  fc.assert(
    fc.property(objects("Service", TAME), patches("Service", TAME), (original, patch) => {
      for (const value of [original, patch])
        expect(dropUnknownFields("Service", value)).toEqual({ value, unknown: [] });
    }),
    RUNS,
  );
});
