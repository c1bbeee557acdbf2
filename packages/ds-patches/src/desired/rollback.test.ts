import type { ControllerRevision } from "@quartet/core/kinds";
import { expect, it } from "vitest";
import type { NodePatch, PodTemplate } from "../api.ts";
import { baseData, snapshotData } from "./revision-data.ts";
import { rollbackOf } from "./rollback.ts";

const template = (image: string): PodTemplate => ({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "m", image }] },
});
const patches: NodePatch[] = [{ selector: {}, patch: { spec: { hostPID: true } } }];

function revision(
  number: number,
  image: string,
  more: { baseOnly?: boolean; patches?: NodePatch[] } = {},
): ControllerRevision {
  const isSnapshot = more.patches !== undefined;
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `agent-${number}`,
      labels: isSnapshot ? { "daemonset.kruise.io/revision-kind": "patches" } : {},
      ...(more.baseOnly && { annotations: { "daemonset.kruise.io/base-only": "true" } }),
    },
    data: JSON.parse(
      isSnapshot ? snapshotData(template(image), more.patches ?? []) : baseData(template(image)),
    ),
    revision: number,
  };
}

/** T1 alone, then T2 with patches: revisions 2 (base only) and 3 (snapshot), then T3 alone. */
const history = [
  revision(1, "i:1"),
  revision(2, "i:2", { baseOnly: true }),
  revision(3, "i:2", { patches }),
  revision(4, "i:3"),
];
const imageOf = (wanted: string, current = 4): unknown => {
  const result = rollbackOf(wanted, current, history);
  return typeof result === "string"
    ? result
    : [result.to.revision, result.to.template.spec?.containers, result.to.patches.length];
};
const containers = (image: string) => [expect.objectContaining({ image })];

it("DSP-621 DSP-622 a number brings back the template, with the patches that it had or without any", () => {
  expect(imageOf("3")).toEqual([3, containers("i:2"), 1]);
  expect(imageOf("1")).toEqual([1, containers("i:1"), 0]);
});

it("DSP-622 DSP-624 a base that never stood alone, an unknown number and no number are unknown", () => {
  for (const wanted of ["2", "999", "-1", "three", ""]) expect(imageOf(wanted)).toBe("unknown");
});

it("DSP-623 0 is the newest target before the current state; the first state has none", () => {
  expect(imageOf("0")).toEqual([3, containers("i:2"), 1]);
  expect(imageOf("0", 3)).toEqual([1, containers("i:1"), 0]);
  expect(imageOf("0", 1)).toBe("unknown");
});

it("DSP-625 the current number changes nothing", () => {
  expect(imageOf("4")).toBe("unchanged");
});

it("DSP-621 a template comes back without what only the stored form has", () => {
  const result = rollbackOf("1", 4, history);
  expect(typeof result === "object" && result.to.template.metadata).toEqual({ labels: { app: "a" } });
});
