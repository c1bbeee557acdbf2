import { expect, it } from "vitest";
import type { NodePatch, PodTemplate } from "../api.ts";
import type { DaemonSet } from "../kinds.ts";
import { effectiveTemplate } from "./effective-template.ts";
import { compilePatches } from "./patch-set.ts";
import { podFor } from "./pod.ts";

const template: PodTemplate = {
  metadata: { labels: { app: "a" } },
  spec: {
    containers: [{ name: "main", image: "a:1" }],
    tolerations: [{ key: "own", operator: "Exists" }],
    affinity: { podAntiAffinity: { own: true } },
  },
};
const daemonSet: Pick<DaemonSet, "metadata" | "spec"> = {
  metadata: { name: "agent", namespace: "t", uid: "u" },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template,
    updateStrategy: { rollingUpdate: { rollingUpdateType: "InPlaceIfPossible" } },
  },
};

/** The pod of node n1 under a patch. */
function patched(patch: object) {
  const patches = [{ selector: {}, patch }] as NodePatch[];
  const { match, listHash } = compilePatches(patches);
  const { template: result } = effectiveTemplate(template, { indexes: [0], patches });
  return podFor({ daemonSet, node: "n1", template: result, match: match(1), listHash, revision: "r1" });
}

it("DSP-508 what the controller adds comes after the patches: no patch takes tolerations, gate or pin away", () => {
  const { spec } = patched({
    spec: { tolerations: [], readinessGates: [{ conditionType: "x.io/y" }], affinity: null },
  });
  const { tolerations, readinessGates, affinity } = spec as Record<string, { key?: string }[]>;
  expect(tolerations?.map(({ key }) => key)).toEqual(
    ["not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map(
      (name) => `node.kubernetes.io/${name}`,
    ),
  );
  expect(readinessGates).toEqual([{ conditionType: "x.io/y" }, { conditionType: "InPlaceUpdateReady" }]);
  const matchFields = [{ key: "metadata.name", operator: "In", values: ["n1"] }];
  expect(affinity).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  });
});

it("DSP-508 DSP-721 the tolerations that are added follow from the patched template", () => {
  const { spec } = patched({ spec: { hostNetwork: true } });
  const keys = (spec as { tolerations: { key: string }[] }).tolerations.map(({ key }) => key);
  expect(keys[0]).toBe("own");
  expect(keys).toContain("node.kubernetes.io/network-unavailable");
});
