/** Patches that are refused: the golden vectors among them, and others. */
import { describe, expect, it } from "vitest";
import { type JsonMap, StrategicMergeError, strategicMerge } from "../src/index.ts";
import { BASE, inA, inSpec, item, order } from "./golden-template.ts";

function failure(patch: () => unknown): StrategicMergeError {
  try {
    patch();
  } catch (error) {
    if (error instanceof StrategicMergeError) return error;
    throw error;
  }
  throw new Error("the patch was accepted");
}

describe("malformed patches", () => {
  const inContainer = "spec.containers[0]";

  it.each([
    [
      "G14",
      "DSP-426",
      "BadElementOrder",
      `${inContainer}.env[1]`,
      { env: [item("A"), item("C")], "$setElementOrder/env": order("C", "A") },
    ],
    [
      "G15",
      "DSP-426",
      "BadElementOrder",
      `${inContainer}.env[0]`,
      { env: [item("X")], "$setElementOrder/env": order("C", "A") },
    ],
    ["G16", "DSP-434", "MissingMergeKey", `${inContainer}.env[0]`, { env: [{ value: "9" }] }],
    ["own", "DSP-418", "MissingMergeKey", `${inContainer}.env[0]`, { env: [{ $patch: "delete" }] }],
    ["G20", "DSP-429", "MixedElements", `${inContainer}.env`, { env: ["x"] }],
    ["own", "DSP-429", "MixedElements", `${inContainer}.env`, { env: [["x"]] }],
    [
      "G21",
      "DSP-423",
      "UnknownDirective",
      `${inContainer}.env[0].$patch`,
      { env: [{ name: "Z", $patch: "merge" }] },
    ],
    [
      "own",
      "DSP-434",
      "UnknownDirective",
      `${inContainer}.env[0].$patch`,
      { env: [{ name: "Z", $patch: "no" }] },
    ],
    [
      "G27",
      "DSP-434",
      "BadPrimitiveList",
      `${inContainer}.$deleteFromPrimitiveList`,
      { $deleteFromPrimitiveList: ["x"] },
    ],
    [
      "own",
      "DSP-434",
      "BadPrimitiveList",
      `${inContainer}.$deleteFromPrimitiveList/env`,
      { "$deleteFromPrimitiveList/env": [item("A")] },
    ],
    ["G29", "DSP-434", "UnknownField", `${inContainer}.nope`, { "$setElementOrder/nope": ["x"] }],
    ["own", "DSP-434", "UnknownField", `${inContainer}.image`, { "$setElementOrder/image": ["x"] }],
    [
      "G30",
      "DSP-434",
      "BadElementOrder",
      `${inContainer}.$setElementOrder/env`,
      { "$setElementOrder/env": "x" },
    ],
    ["own", "DSP-434", "BadElementOrder", `${inContainer}.$setElementOrder`, { $setElementOrder: ["x"] }],
    [
      "G49",
      "DSP-434",
      "UnknownDirective",
      `${inContainer}.resources.$patch`,
      { resources: { $patch: "bogus" } },
    ],
    [
      "G49",
      "DSP-423",
      "UnknownDirective",
      `${inContainer}.resources.$patch`,
      { resources: { $patch: "merge" } },
    ],
    ["G39", "DSP-424", "BadRetainKeys", `${inContainer}.image`, { $retainKeys: ["name"], image: "z" }],
    ["own", "DSP-434", "BadRetainKeys", `${inContainer}.$retainKeys`, { $retainKeys: "name" }],
  ])("%s %s %s at %s", (_vector, _rule, problem, path, fragment) => {
    const error = failure(() => inA(fragment as JsonMap));
    expect({ problem: error.problem, path: error.path }).toEqual({ problem, path });
    expect(error.message.startsWith(`${path}: `)).toBe(true);
  });

  it("G39 DSP-424 a key that is set but not retained", () => {
    const volumes = [{ name: "v", $retainKeys: ["name"], hostPath: { path: "/d" } }];
    expect(failure(() => inSpec({ volumes }))).toMatchObject({
      problem: "BadRetainKeys",
      path: "spec.volumes[0].hostPath",
    });
  });

  it.each([["x"], [1], [[]]])("DSP-434 a patch that is no object: %j", (patch) => {
    expect(failure(() => strategicMerge("PodTemplateSpec", {}, patch))).toMatchObject({
      problem: "NotAnObject",
      path: "",
    });
  });

  it("DSP-435 an error leaves the original as it was", () => {
    const original = structuredClone(BASE);
    const patch = {
      metadata: { labels: { n: "1" } },
      spec: { containers: [{ name: "a", image: "n" }, { image: "z" }] },
    };
    expect(failure(() => strategicMerge("PodTemplateSpec", original, patch)).problem).toBe("MissingMergeKey");
    expect(original).toEqual(BASE);
  });

  it("names no value of the patch in an error", () => {
    const env = [{ value: "hunter2" }];
    expect(failure(() => inA({ env })).message).not.toContain("hunter2");
  });
});
