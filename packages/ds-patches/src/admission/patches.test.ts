import { describe, expect, it } from "vitest";
import { main, REFUSED_PATCHES, TEMPLATE } from "../../test/support/refused-patches.ts";
import type { PodTemplate } from "../api.ts";
import { reviewPatches } from "./patches.ts";
import type { Verdict } from "./verdict.ts";

const SELECTOR = { matchLabels: { app: "agent" } };

function review(patches: unknown, template = TEMPLATE): Verdict {
  return reviewPatches({ patches, template, selector: SELECTOR, path: "spec.patches" });
}
const one = (patch: unknown, more: object = {}): Verdict =>
  review([{ selector: { matchLabels: { size: "large" } }, patch, ...more }]);
const text = ({ violations }: Verdict): string =>
  violations.map(({ path, message }) => `${path}: ${message}`).join("\n");

/** Compact JSON of so many bytes. */
const patchOfBytes = (bytes: number, filler = "x"): object => {
  const empty = JSON.stringify({ metadata: { annotations: { a: "" } } }).length;
  return { metadata: { annotations: { a: filler.repeat((bytes - empty) / Buffer.byteLength(filler)) } } };
};

describe("admission of patches", () => {
  it("accepts what the KEP shows", () => {
    const verdict = one(
      main({
        env: [
          { name: "CACHE", value: "2Ti" },
          { name: "BIG", value: "true" },
        ],
        resources: { limits: { "nvidia.com/gpu": 1 }, requests: { memory: "2Gi" } },
      }),
    );
    expect(verdict).toEqual({ violations: [], warnings: [] });
  });

  it("DSP-336 1024 bytes of compact JSON are accepted, one more is refused with its size", () => {
    expect(one(patchOfBytes(1024)).violations).toEqual([]);
    expect(text(one(patchOfBytes(1025)))).toMatch(/^spec\.patches\[0\]\.patch: .*1025 bytes.*1024/);
    expect(text(one(patchOfBytes(1027, "é")))).toContain("1027 bytes");
  });

  it("DSP-335 eleven items are refused, ten accepted", () => {
    const items = (count: number) => Array.from({ length: count }, () => ({ selector: {}, patch: {} }));
    expect(text(review(items(11)))).toContain("at most 10");
    expect(review(items(10)).violations).toEqual([]);
  });

  it.each([undefined, null, "text", [], 5])("DSP-337 a patch %j is refused", (patch) => {
    expect(text(one(patch))).toMatch(/^spec\.patches\[0\]\.patch: must be/);
  });

  it("DSP-338 DSP-340 an empty patch and a selector of all nodes are accepted with a warning", () => {
    const { violations, warnings } = review([{ selector: {}, patch: {} }]);
    expect(violations).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/selector: matches every node/),
      expect.stringMatching(/patch: .*no effect/),
    ]);
  });

  it("DSP-339 DSP-341 a missing selector and mistakes in one are told at their path", () => {
    expect(text(one({}, { selector: null }))).toContain("spec.patches[0].selector: must be given");
    const selector = { matchExpressions: [{ key: "a", operator: "In" }] };
    expect(text(one({}, { selector }))).toContain("spec.patches[0].selector.matchExpressions[0].values");
  });

  it("DSP-334 an item has no other keys, and an integer priority", () => {
    expect(text(one({}, { weight: 1 }))).toContain("spec.patches[0].weight: unknown field");
    expect(text(one({}, { priority: 2 ** 31 }))).toContain("spec.patches[0].priority");
    expect(one({}, { priority: -(2 ** 31) }).violations).toEqual([]);
  });

  it.each(REFUSED_PATCHES)("%s refuses %j at its path with a remedy", (_rule, patch, path, message) => {
    const { violations } = one(patch);
    const at = path === "" ? "spec.patches[0].patch" : `spec.patches[0].patch.${path}`;
    expect(violations.map((violation) => violation.path)).toContain(at);
    expect(violations.find((violation) => violation.path === at)?.message).toMatch(message);
  });

  it("DSP-404 a field of a later release of Kubernetes is unknown, whatever the server has", () => {
    expect(text(one({ spec: { fieldOfALaterRelease: 1 } }))).toBe(
      "spec.patches[0].patch.spec.fieldOfALaterRelease: unknown field",
    );
  });

  it("DSP-365 deleting what the template does not have is accepted with a warning", () => {
    const { violations, warnings } = one({ spec: { volumes: [{ name: "zz", $patch: "delete" }] } });
    expect(violations).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/volumes "zz".*no effect/)]);
  });

  it("DSP-355 DSP-366 a container that an earlier patch adds may be patched without an image", () => {
    const added = { selector: {}, patch: { spec: { containers: [{ name: "side", image: "s:1" }] } } };
    const tuned = {
      selector: {},
      priority: 1,
      patch: { spec: { containers: [{ name: "side", env: [{ name: "A", value: "1" }] }] } },
    };
    expect(review([tuned, added]).violations).toEqual([]);
    expect(text(review([{ ...tuned, priority: -1 }, added]))).toContain("spec.patches[0].patch");
  });

  it("DSP-364 $retainKeys inside an added item is accepted", () => {
    const volume = { name: "n", $retainKeys: ["name", "hostPath"], hostPath: { path: "/n" } };
    expect(one({ spec: { volumes: [volume] } }).violations).toEqual([]);
  });

  it("DSP-351 other affinities may be patched", () => {
    const podAntiAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    expect(one({ spec: { affinity: { podAntiAffinity } } }).violations).toEqual([]);
  });

  it("DSP-332 what is wrong with the template itself is not told of a patch", () => {
    const broken: PodTemplate = {
      ...TEMPLATE,
      spec: { ...TEMPLATE.spec, volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] },
    };
    const patches = [{ selector: {}, patch: { metadata: { labels: { tier: "a" } } } }];
    expect(review(patches, broken).violations).toEqual([]);
  });

  it("DSP-369 equal priorities that set one leaf differently are accepted with a warning, unless no node has both", () => {
    const cache = (value: string, selector: object, priority = 0) => ({
      selector,
      priority,
      patch: main({ env: [{ name: "CACHE", value }] }),
    });
    const { violations, warnings } = review([
      cache("a", { matchLabels: { x: "1" } }),
      cache("b", { matchLabels: { y: "1" } }),
    ]);
    expect(violations).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/items 0 and 1.*env\[CACHE\]\.value/)]);
    const disjoint = [cache("a", { matchLabels: { x: "1" } }), cache("b", { matchLabels: { x: "2" } })];
    expect(review(disjoint).warnings).toEqual([]);
    const ordered = [cache("a", { matchLabels: { x: "1" } }), cache("b", { matchLabels: { y: "1" } }, 1)];
    expect(review(ordered).warnings).toEqual([]);
  });

  it("DSP-370 keys that JavaScript gives a meaning are data", () => {
    const annotations = JSON.parse('{"__proto__":"x","constructor":"y","toString":"z"}');
    expect(one({ metadata: { annotations } }).violations).toEqual([]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
