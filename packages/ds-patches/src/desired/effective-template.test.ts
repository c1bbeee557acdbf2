import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { NodePatch, PodTemplate } from "../api.ts";
import { createTemplateCache, effectiveTemplate, PatchError } from "./effective-template.ts";
import { compilePatches } from "./patch-set.ts";

const TEMPLATE: PodTemplate = {
  metadata: { labels: { app: "agent" } },
  spec: {
    containers: [
      {
        name: "main",
        image: "agent:1",
        env: [
          { name: "CACHE", value: "500Gi" },
          { name: "MODE", value: "std" },
        ],
      },
    ],
  },
};
const env = (...pairs: [string, string][]): NodePatch["patch"] => ({
  spec: { containers: [{ name: "main", env: pairs.map(([name, value]) => ({ name, value })) }] },
});
const all = (...patches: NodePatch["patch"][]) => {
  const set = compilePatches(patches.map((patch) => ({ selector: {}, patch })));
  return set.match(set.maskOf({}));
};
const environment = ({ template }: { template: PodTemplate }): string[] => {
  const [container] = template.spec!.containers as unknown as { env: { name: string; value: string }[] }[];
  return container!.env.map(({ name, value }) => `${name}=${value}`);
};

describe("effective templates", () => {
  it("DSP-506 the last patch that sets a leaf wins, others add to it", () => {
    const result = effectiveTemplate(TEMPLATE, all(env(["CACHE", "a"], ["X", "1"]), env(["CACHE", "b"])));
    expect(environment(result)).toEqual(["CACHE=b", "X=1", "MODE=std"]);
  });

  it("DSP-507 a later patch deletes what an earlier one added", () => {
    const gone = { spec: { containers: [{ name: "main", env: [{ name: "X", $patch: "delete" }] }] } };
    expect(environment(effectiveTemplate(TEMPLATE, all(env(["X", "1"]), gone)))).toEqual([
      "CACHE=500Gi",
      "MODE=std",
    ]);
  });

  it("DSP-416 the guide says where new items go, and its example puts one at the end", () => {
    const guide = readFileSync(new URL("../../../../docs/guides/ds-patches.md", import.meta.url), "utf8");
    const [, example] = /```json\n(\{[^`]*setElementOrder[^`]*\})\n```/.exec(guide) ?? [];
    const patch = JSON.parse(example ?? "") as NodePatch["patch"];
    expect(environment(effectiveTemplate(TEMPLATE, all(patch)))).toEqual([
      "CACHE=500Gi",
      "MODE=std",
      "ARGS=--cache=$(CACHE)",
    ]);
    // Without the directive it comes first, where CACHE does not exist yet.
    const { "$setElementOrder/env": _order, ...container } = (
      patch as { spec: { containers: Record<string, unknown>[] } }
    ).spec.containers[0]!;
    const unordered = { spec: { containers: [container] } } as NodePatch["patch"];
    expect(environment(effectiveTemplate(TEMPLATE, all(unordered)))[0]).toBe("ARGS=--cache=$(CACHE)");
  });

  it("DSP-509 without patches the template is the DaemonSet's own", () => {
    expect(effectiveTemplate(TEMPLATE, all()).template).toBe(TEMPLATE);
  });

  it("DSP-511 a malformed patch is an error that names its index and place, and none of its values", () => {
    const bad = { spec: { containers: [{ image: "s3cret" }] } };
    const attempt = (): unknown => effectiveTemplate(TEMPLATE, all(env(["A", "1"]), bad));
    expect(attempt).toThrow(PatchError);
    expect(attempt).toThrow(/^patches\[1\]: spec\.containers\[0\]/);
    expect(attempt).not.toThrow(/s3cret/);
  });

  it.each([
    ["spec.nodeSelector", { spec: { nodeSelector: { a: "b" } } }],
    [
      "spec.affinity.nodeAffinity",
      {
        spec: {
          affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
        },
      },
    ],
    ["spec.restartPolicy", { spec: { restartPolicy: "Never" } }],
    [
      "metadata.labels[controller-revision-hash]",
      { metadata: { labels: { "controller-revision-hash": "x" } } },
    ],
  ])("DSP-512 a result that changes %s is refused at run time", (path, patch) => {
    expect(() => effectiveTemplate(TEMPLATE, all(patch as NodePatch["patch"]))).toThrow(
      expect.objectContaining({ reason: "invariant_violated", message: expect.stringContaining(path) }),
    );
  });

  it("DSP-439 fields that the schema does not have are dropped and named", () => {
    const typo = { spec: { containers: [{ name: "main", imge: "x" }] } };
    const result = effectiveTemplate(TEMPLATE, all(env(["A", "1"]), typo));
    expect(result.unknown).toEqual([{ index: 1, path: "spec.containers[0].imge" }]);
    expect(JSON.stringify(result.template)).not.toContain("imge");
  });

  it("DSP-513 DSP-1042 DSP-1043 DSP-1044 nodes of one mask share one merge, at most 64 are kept", () => {
    const set = compilePatches(
      Array.from({ length: 7 }, (_, index) => ({
        selector: { matchLabels: { [`l${index}`]: "1" } },
        patch: env([`E${index}`, "1"]),
      })),
    );
    const templateOf = createTemplateCache(TEMPLATE, set.match);
    const first = templateOf(1);
    expect(templateOf(1)).toBe(first);
    for (let mask = 2; mask <= 65; mask++) templateOf(mask);
    expect(templateOf(1)).not.toBe(first);
    expect(templateOf(1)).toEqual(first);
  });
});
