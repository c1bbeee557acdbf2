import { describe, expect, it } from "vitest";
import type { PodTemplate } from "../api.ts";
import { compileEligibility } from "./eligibility.ts";
import type { NodeFacts } from "./objects.ts";
import { withDefaultTolerations } from "./tolerations.ts";

const node = (more: Partial<NodeFacts> = {}): NodeFacts => ({ name: "n1", labels: {}, taints: [], ...more });
const runs = (spec: object, facts: NodeFacts) => compileEligibility({ spec } as PodTemplate)(facts);
const affinity = (...terms: object[]): object => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  },
});
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});

describe("eligible nodes", () => {
  it("DSP-717 nodeName leaves one node", () => {
    expect(runs({ nodeName: "n1" }, node()).shouldRun).toBe(true);
    expect(runs({ nodeName: "n2" }, node())).toEqual({ shouldRun: false, shouldContinue: false });
  });

  const color = (value: string): NodeFacts => node({ labels: { color: value, cores: "16" } });
  it.each([
    [{ nodeSelector: { color: "blue" } }, true],
    [{ nodeSelector: { color: "red" } }, false],
    [affinity(expression("color", "In", "red", "blue")), true],
    [affinity(expression("color", "NotIn", "blue")), false],
    [affinity(expression("color", "Exists")), true],
    [affinity(expression("size", "DoesNotExist")), true],
    [affinity(expression("cores", "Gt", "8")), true],
    [affinity(expression("cores", "Gt", "16")), false],
    [affinity(expression("cores", "Lt", "17")), true],
    [affinity(expression("color", "Gt", "8")), false],
    [affinity(expression("color", "Like", "b")), false],
    [affinity({}), false],
    [affinity(), false],
    [affinity({}, expression("color", "Exists")), true],
    [
      affinity({
        ...expression("color", "Exists"),
        matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }],
      }),
      false,
    ],
    [affinity({ matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n2"] }] }), true],
  ])("DSP-718 %j on a blue node of 16 cores: %s", (spec, expected) => {
    expect(runs(spec, color("blue")).shouldRun).toBe(expected);
  });

  it("DSP-719 DSP-720 an untolerated NoSchedule keeps new pods away, NoExecute sends old ones off too", () => {
    const tainted = (effect: string) => node({ taints: [{ key: "gpu", effect }] });
    expect(runs({}, tainted("NoSchedule"))).toEqual({ shouldRun: false, shouldContinue: true });
    expect(runs({}, tainted("NoExecute"))).toEqual({ shouldRun: false, shouldContinue: false });
    expect(runs({}, tainted("PreferNoSchedule"))).toEqual({ shouldRun: true, shouldContinue: true });
  });

  it("DSP-722 a cordoned node is eligible, a node that is not ready keeps what it has", () => {
    const cordoned = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
    expect(runs({}, node({ taints: cordoned })).shouldRun).toBe(true);
    const key = "node.kubernetes.io/not-ready";
    const broken = ["NoSchedule", "NoExecute"].map((effect) => ({ key, effect }));
    expect(runs({}, node({ taints: broken }))).toEqual({ shouldRun: false, shouldContinue: true });
  });

  it.each([
    [{ key: "gpu", operator: "Exists" }, true],
    [{ key: "gpu", value: "a", effect: "NoSchedule" }, true],
    [{ key: "gpu", operator: "Equal", value: "b" }, false],
    [{ operator: "Exists" }, true],
    [{ operator: "Equal" }, false],
    [{ key: "gpu", operator: "Exists", effect: "NoExecute" }, false],
    [{ key: "gpu", operator: "Gt", value: "1" }, false],
  ])("DSP-724 DSP-723 the toleration %j lets gpu=a:NoSchedule pass: %s", (toleration, expected) => {
    const tainted = node({ taints: [{ key: "gpu", value: "a", effect: "NoSchedule" }] });
    expect(runs({ tolerations: [toleration] }, tainted).shouldRun).toBe(expected);
  });

  it("DSP-721 defaults replace an equal toleration in its place, and are appended in their order", () => {
    const own = [
      {
        key: "node.kubernetes.io/unreachable",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 5,
      },
      { key: "mine", operator: "Exists" },
    ];
    const result = withDefaultTolerations(own, true);
    expect(result.slice(0, 2)).toEqual([
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
      { key: "mine", operator: "Exists" },
    ]);
    expect(result.map(({ key }) => key?.split("/").at(-1))).toEqual([
      "unreachable",
      "mine",
      "not-ready",
      "disk-pressure",
      "memory-pressure",
      "pid-pressure",
      "unschedulable",
      "network-unavailable",
    ]);
    expect(withDefaultTolerations([], false)).toHaveLength(6);
  });
});
