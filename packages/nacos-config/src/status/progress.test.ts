import type { Condition } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { differInProgressOnly } from "./progress.ts";
import type { NacosStatus } from "./status.ts";

const condition = (type: string, status: Condition["status"], reason: string, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const ROLLING: NacosStatus = {
  phase: "Running",
  healthy: true,
  configDigest: "a",
  replicas: 3,
  readyReplicas: 3,
  observedGeneration: 1,
  operatorConditions: [
    condition("Ready", "True", "Running"),
    condition("Progressing", "True", "RollingUpdate", "1/3"),
    condition("NodesVerified", "True", "Verified"),
  ],
};
const withCondition = (changed: Condition): NacosStatus => ({
  ...ROLLING,
  operatorConditions: (ROLLING.operatorConditions ?? []).map((item) =>
    item.type === changed.type ? changed : item,
  ),
});

describe("news that can wait", () => {
  it.each<[string, NacosStatus]>([
    ["a count", { ...ROLLING, readyReplicas: 2 }],
    ["the message of a rollout", withCondition(condition("Progressing", "True", "RollingUpdate", "2/3"))],
    ["the kind of a movement", withCondition(condition("Progressing", "True", "Scaling"))],
    ["nodes that do not answer", withCondition(condition("NodesVerified", "False", "Unreachable"))],
  ])("NACOS-920 is %s", (_, after) => {
    expect(differInProgressOnly(ROLLING, after)).toBe(true);
  });

  it.each(["MemberCount", "Unreachable"])(
    "NACOS-920 is %s of a node while the installation is being created",
    (reason) => {
      const creating = (...conditions: Condition[]): NacosStatus => ({
        ...ROLLING,
        phase: "Creating",
        operatorConditions: conditions,
      });
      const before = creating(condition("Ready", "False", "Creating"));
      const nodes = condition("NodesVerified", "False", reason);
      const after = creating(condition("Ready", "False", reason), nodes);
      expect(differInProgressOnly(before, after)).toBe(true);
      const refused = creating(condition("Ready", "False", "ChildRefused"), nodes);
      expect(differInProgressOnly(before, refused)).toBe(false);
    },
  );

  it.each<[string, NacosStatus]>([
    ["another phase", { ...ROLLING, phase: "Failed" }],
    ["another configuration", { ...ROLLING, configDigest: "b" }],
    ["a new generation", { ...ROLLING, observedGeneration: 2 }],
    ["the end of a rollout", withCondition(condition("Progressing", "False", "RolloutComplete"))],
    ["a fall of another condition", withCondition(condition("Ready", "False", "RolloutStalled"))],
  ])("NACOS-920 is not %s", (_, after) => {
    expect(differInProgressOnly(ROLLING, after)).toBe(false);
  });

  it("NACOS-919 is not a status that equals the present one", () => {
    expect(differInProgressOnly(ROLLING, structuredClone(ROLLING))).toBe(false);
  });
});
