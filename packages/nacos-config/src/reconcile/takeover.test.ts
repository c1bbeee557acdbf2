/** What a process knows that takes over in the middle of a movement. */

import type { Pod, StatefulSet } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { nacos } from "../fixtures.testkit.ts";
import { rolloutSince, scaledFromOf } from "./observe.ts";
import { workloadReport } from "./workload.ts";

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
const told = (reason: string, message: string) => {
  const condition = { type: "Progressing", status: "True", reason, message, lastTransitionTime: at(0) };
  return { ...nacos(), status: { operatorConditions: [condition] } } as ReturnType<typeof nacos>;
};
const pod = (minute: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { creationTimestamp: at(minute) },
});
const set = (partition: number, updatedReplicas: number): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "demo", generation: 2 },
  spec: {
    replicas: 3,
    selector: {},
    template: { metadata: {}, spec: { containers: [] } },
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
  },
  status: { observedGeneration: 2, replicas: 3, updatedReplicas, currentRevision: "a", updateRevision: "b" },
});

describe("a process that takes over", () => {
  it("NACOS-914 knows from how many nodes it is being scaled", () => {
    expect(scaledFromOf(told("Scaling", "3/7 nodes are ready, from 3"))).toBe(3);
    expect(scaledFromOf(told("Scaling", "3/7 nodes are ready, from 3; versions: 2.4.3 on 2"))).toBe(3);
    expect(scaledFromOf(told("Scaling", "3/7 nodes are ready"))).toBeUndefined();
    expect(scaledFromOf(told("RollingUpdate", "1/3, from 3"))).toBeUndefined();
  });

  it("NACOS-914 does not take the begin of an earlier movement for that of the rollout", () => {
    expect(rolloutSince(told("RollingUpdate", "1/3"), [pod(1), pod(40)])).toBe(Date.parse(at(40)));
    expect(rolloutSince(told("RollingUpdate", "1/3"), [])).toBe(Date.parse(at(0)));
    expect(rolloutSince(told("Scaling", "1/3"), [pod(1)])).toBeUndefined();
  });
});

describe("a partition that somebody has set", () => {
  it.each([
    [0, 2, true, undefined],
    [1, 1, true, 1],
    [1, 2, false, 1],
    [5, 0, false, 5],
  ])("NACOS-466 of %i, with %i pods updated, rolls: %s", (partition, updated, rolling, kept) => {
    const report = workloadReport(set(partition, updated), [], undefined);
    expect(report.rolling).toBe(rolling);
    expect(report.partition).toBe(kept);
  });
});
