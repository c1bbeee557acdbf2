import { describe, expect, it } from "vitest";
import type { NodePatch } from "../api.ts";
import { applicationOrder, combinedHash, compilePatches } from "./patch-set.ts";

const patch = (body: object, more: Partial<NodePatch> = {}): NodePatch => ({
  selector: {},
  patch: body as NodePatch["patch"],
  ...more,
});
const NYDUS = {
  spec: {
    containers: [
      {
        name: "nydusd",
        env: [
          { name: "LOCAL_CACHE_SIZE", value: "2Ti" },
          { name: "FEATURE_GATE_LARGE_DISK", value: "true" },
        ],
      },
    ],
  },
};
const TIER = { metadata: { annotations: { tier: "large" } } };

describe("patch sets", () => {
  it("DSP-505 priorities ascend, equal ones keep the order of the list", () => {
    const priorities = [5, 0, 5, -1];
    expect(applicationOrder(priorities.map((priority) => patch({}, { priority })))).toEqual([3, 1, 0, 2]);
    expect(applicationOrder([patch({}), patch({}, { priority: -1 })])).toEqual([1, 0]);
  });

  it("DSP-1041 DSP-1047 nodes that the same patches match share all that is made of them", () => {
    const large = patch(NYDUS, { selector: { matchLabels: { size: "large" } } });
    const set = compilePatches([large, patch(TIER)]);
    const nodes = Array.from({ length: 5_000 }, (_, node) => ({
      node: String(node),
      size: node % 2 ? "large" : "",
    }));
    expect(new Set(nodes.map((labels) => set.match(set.maskOf(labels)))).size).toBe(2);
  });

  it("DSP-602 the combined hash covers bodies in application order", () => {
    expect(combinedHash([patch(NYDUS)])).toBe("002be8c95b2f5830");
    expect(combinedHash([patch(NYDUS), patch(TIER)])).toBe("fc7cfd088f161a02");
    expect(combinedHash([patch(TIER), patch(NYDUS)])).toBe("0f5d3b5cc6ce2909");
    expect(combinedHash([])).toBe("");
  });

  it("DSP-614 a selector or priority that changes no node's bodies changes no combined hash", () => {
    const large = { matchLabels: { size: "large" } };
    const before = compilePatches([patch(NYDUS, { selector: large }), patch(TIER, { priority: 1 })]);
    const after = compilePatches([
      patch(NYDUS, {
        selector: { matchExpressions: [{ key: "size", operator: "In", values: ["large"] }] },
        priority: -7,
      }),
      patch(TIER),
    ]);
    for (const labels of [{}, { size: "large" }] as Record<string, string>[]) {
      expect(after.match(after.maskOf(labels)).combinedHash).toBe(
        before.match(before.maskOf(labels)).combinedHash,
      );
    }
    expect(after.listHash).not.toBe(before.listHash);
  });

  it("DSP-1041 nodes of one mask share what it stands for, with indexes of the list", () => {
    const set = compilePatches([
      patch(NYDUS, { selector: { matchLabels: { size: "large" } }, priority: 10 }),
      patch(TIER, { selector: { matchLabels: { gpu: "yes" } } }),
    ]);
    const mask = set.maskOf({ size: "large", gpu: "yes", other: "1" });
    expect(set.match(mask).indexes).toEqual([1, 0]);
    expect(set.match(set.maskOf({ gpu: "yes", size: "large" }))).toBe(set.match(mask));
    expect(set.match(set.maskOf({})).patches).toEqual([]);
  });

  it("DSP-504 a patch whose selector cannot be compiled matches nothing and is named", () => {
    const bad = { matchExpressions: [{ key: "a", operator: "Near" }] };
    const set = compilePatches([patch(TIER), patch(NYDUS, { selector: bad, priority: -1 })]);
    expect(set.invalid).toEqual([1]);
    expect(set.match(set.maskOf({ a: "1" })).indexes).toEqual([0]);
  });
});
