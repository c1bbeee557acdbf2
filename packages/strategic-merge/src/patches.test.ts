import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Drawing, objects, RUNS, TELLING_FIELDS } from "../test/arbitraries.ts";
import { deepFreeze } from "../test/freeze.ts";
import { createThreeWayPatch, createTwoWayPatch, type JsonMap, strategicMerge } from "./index.ts";

const TAME: Drawing = { fields: TELLING_FIELDS, wild: false };
const TYPES = ["PodTemplateSpec", "apps.v1.StatefulSet", "apps.v1.Deployment", "Service", "Node"];

describe.each(TYPES)("createTwoWayPatch of %s", (type) => {
  it("leads from the original to the modified object, order of lists included", () => {
    fc.assert(
      fc.property(objects(type, TAME), objects(type, TAME), (original, modified) => {
        const patch = createTwoWayPatch(type, deepFreeze(original), deepFreeze(modified));
        expect(strategicMerge(type, original, deepFreeze(patch))).toEqual(modified);
      }),
      RUNS,
    );
  });

  it("leads to the modified object once more when it is there already", () => {
    fc.assert(
      fc.property(objects(type, TAME), objects(type, TAME), (original, modified) => {
        const patch = createTwoWayPatch(type, original, modified);
        expect(strategicMerge(type, modified, patch)).toEqual(modified);
      }),
      RUNS,
    );
  });

  it("is empty for equal objects", () => {
    fc.assert(
      fc.property(objects(type, TAME), (original) => {
        expect(createTwoWayPatch(type, original, structuredClone(original))).toEqual({});
      }),
      RUNS,
    );
  });
});

describe("createTwoWayPatch", () => {
  const pod = (spec: JsonMap): JsonMap => ({ spec });
  const patchOf = (original: JsonMap, modified: JsonMap): JsonMap =>
    createTwoWayPatch("PodTemplateSpec", pod(original), pod(modified));

  it("writes changed, new and removed items with the order of the list", () => {
    const original = { containers: [{ name: "a", image: "1" }, { name: "b" }, { name: "c" }] };
    const modified = { containers: [{ name: "c" }, { name: "n", image: "9" }, { name: "a", image: "2" }] };
    expect(patchOf(original, modified)).toEqual({
      spec: {
        "$setElementOrder/containers": [{ name: "c" }, { name: "n" }, { name: "a" }],
        containers: [
          { name: "n", image: "9" },
          { name: "a", image: "2" },
          { name: "b", $patch: "delete" },
        ],
      },
    });
  });

  it("writes $retainKeys where the sources of a volume exclude each other", () => {
    const original = { volumes: [{ name: "v", emptyDir: {} }] };
    const modified = { volumes: [{ name: "v", hostPath: { path: "/" } }] };
    expect(patchOf(original, modified)).toEqual({
      spec: {
        "$setElementOrder/volumes": [{ name: "v" }],
        volumes: [{ name: "v", emptyDir: null, hostPath: { path: "/" }, $retainKeys: ["hostPath", "name"] }],
      },
    });
  });

  it("writes the whole of an atomic list, and null for what is gone", () => {
    const original = { tolerations: [{ key: "a" }], nodeName: "n", hostname: "h" };
    expect(patchOf(original, { tolerations: [{ key: "b" }], hostname: "h" })).toEqual({
      spec: { tolerations: [{ key: "b" }], nodeName: null },
    });
  });

  it("adds to and deletes from a list of scalars", () => {
    const patch = createTwoWayPatch(
      "PodTemplateSpec",
      { metadata: { finalizers: ["a", "b"] } },
      { metadata: { finalizers: ["c", "b"] } },
    );
    expect(patch).toEqual({
      metadata: {
        "$setElementOrder/finalizers": ["c", "b"],
        "$deleteFromPrimitiveList/finalizers": ["a"],
        finalizers: ["c"],
      },
    });
  });

  it("replaces a map as a whole where the schema asks for it", () => {
    const budget = (labels: JsonMap): JsonMap => ({ spec: { selector: { matchLabels: labels } } });
    expect(
      createTwoWayPatch("policy.v1.PodDisruptionBudget", budget({ a: "b" }), budget({ c: "d" })),
    ).toEqual(budget({ c: "d" }));
  });

  it("names the list whose items lack their key", () => {
    expect(() => patchOf({ containers: [{ name: "a" }] }, { containers: [{ image: "i" }] })).toThrow(
      "spec.containers: must contain name",
    );
  });
});

describe("createThreeWayPatch", () => {
  it.each(TYPES)("brings %s to where apply wants it, and leaves what others added", (type) => {
    fc.assert(
      fc.property(objects(type, TAME), objects(type, TAME), (original, modified) => {
        const patch = createThreeWayPatch(type, { original, modified, current: deepFreeze(original) });
        expect(strategicMerge(type, original, deepFreeze(patch))).toEqual(modified);
      }),
      RUNS,
    );
  });

  it("removes what was wanted, sets what is wanted and keeps the rest", () => {
    const patch = createThreeWayPatch("apps.v1.Deployment", {
      original: { metadata: { labels: { gone: "1", kept: "1" } }, spec: { replicas: 1, paused: true } },
      modified: { metadata: { labels: { kept: "2" } }, spec: { replicas: 3 } },
      current: {
        metadata: { labels: { gone: "1", kept: "1", theirs: "1" } },
        spec: { replicas: 3, paused: true },
      },
    });
    expect(patch).toEqual({ metadata: { labels: { gone: null, kept: "2" } }, spec: { paused: null } });
  });

  it("puts deletions behind the changes of one list", () => {
    const env = (...names: string[]): JsonMap => ({
      spec: { containers: [{ name: "a", env: names.map((name) => ({ name, value: name })) }] },
    });
    const patch = createThreeWayPatch("PodTemplateSpec", {
      original: env("A", "B"),
      modified: env("B", "C"),
      current: env("A", "B", "X"),
    });
    expect(patch).toEqual({
      spec: {
        "$setElementOrder/containers": [{ name: "a" }],
        containers: [
          {
            name: "a",
            "$setElementOrder/env": [{ name: "B" }, { name: "C" }],
            env: [
              { name: "C", value: "C" },
              { name: "A", $patch: "delete" },
            ],
          },
        ],
      },
    });
  });

  it("is empty when the current object already holds all that is wanted", () => {
    fc.assert(
      fc.property(objects("PodTemplateSpec", TAME), (wanted) => {
        const current = strategicMerge("PodTemplateSpec", wanted, {
          metadata: { annotations: { theirs: "1" } },
        });
        const patch = createThreeWayPatch("PodTemplateSpec", { original: wanted, modified: wanted, current });
        expect(patch).toEqual({});
      }),
      RUNS,
    );
  });
});
