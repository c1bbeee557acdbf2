import type { ReconcileContext } from "@quartet/core";
import { POD } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import type { PatchMetrics } from "../reconcile/metrics.ts";
import { createPatchesOf } from "./patches.ts";
import { createCompanion } from "./reconcile.ts";

const KEY = { namespace: "t", name: "agent" };
const PATCHES = JSON.stringify([{ selector: {}, patch: { spec: { hostPID: true } } }]);
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };
/** A pod of OpenKruise that was made without its patch. */
const OLD_POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "t", uid: "p", labels: { app: "a", "controller-revision-hash": "r1" } },
  spec: { nodeName: "n1", containers: [] },
  status: {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
  },
};

interface SceneOptions {
  annotations?: object;
  rollingUpdate?: object;
}

/** What one pass does: reasons and notes of its events, and names of the pods that it deletes. */
async function passed(options: SceneOptions, enabled = true): Promise<{ told: string[]; deleted: string[] }> {
  const { told, deleted, pass } = scene(options, enabled);
  await pass();
  return { told, deleted };
}

function scene({ annotations = {}, rollingUpdate = { maxUnavailable: 1 } }: SceneOptions, enabled = true) {
  const clock = fakeClock();
  const daemonSet = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    metadata: {
      ...{ ...KEY, uid: "u", generation: 1 },
      annotations: { "daemonset.kruise.io/patches": PATCHES, ...annotations },
    },
    spec: {
      selector: { matchLabels: { app: "a" } },
      template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "m", image: "i" }] } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
    },
    status: { observedGeneration: 1, updateRevision: "r1" },
  } as unknown as DaemonSet;
  const told: string[] = [];
  const deleted: string[] = [];
  const ctx = {
    cache: {
      get: async () => daemonSet,
      list: async () => [NODE],
      byIndex: (kind: unknown) => (kind === POD ? [OLD_POD] : []),
    },
    client: { delete: async (_kind: unknown, { name }: { name: string }) => void deleted.push(name) },
    events: {
      record: (_object: unknown, { type, reason, note }: { type: string; reason: string; note: string }) => {
        if (type === "Warning") told.push(`${reason}: ${note}`);
      },
    },
  } as unknown as ReconcileContext;
  const companion = createCompanion({
    patchesOf: createPatchesOf(enabled),
    metrics: { stale: () => {}, failed: () => {}, forget: () => {} } as unknown as PatchMetrics,
    clock,
    settleMs: 0,
  });
  return { told, deleted, clock, pass: () => companion.reconcile(KEY, ctx) };
}

it("DSP-913 a pod without its patch is deleted", async () => {
  expect(await passed({})).toEqual({ told: [], deleted: ["p"] });
});

it("DSP-911 DSP-925 with the gate off nothing has drifted", async () => {
  expect(await passed({}, false)).toEqual({ told: [], deleted: [] });
});

it("DSP-916 where no pod may be missing none is deleted, and a way out is named", async () => {
  expect(await passed({ rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } })).toEqual({
    told: [expect.stringMatching(/^PatchRolloutBlocked: maxUnavailable is 0.*patches-rollout: Template/)],
    deleted: [],
  });
});

it("DSP-919 a value that nobody knows is told of, and no pod goes", async () => {
  expect(await passed({ annotations: { "daemonset.kruise.io/patches-rollout": "Now" } })).toEqual({
    told: [expect.stringMatching(/^PatchRolloutBlocked: .*"Now".*Evict, None, Template/)],
    deleted: [],
  });
});

it("DSP-917 beside updates in place Template does what Evict does, and says so", async () => {
  const rollingUpdate = { maxUnavailable: 1, rollingUpdateType: "InPlaceIfPossible" };
  const annotations = { "daemonset.kruise.io/patches-rollout": "Template" };
  expect(await passed({ annotations, rollingUpdate })).toEqual({
    told: [expect.stringMatching(/^PatchRolloutBlocked: an in-place update/)],
    deleted: ["p"],
  });
});

it("DSP-924 nothing is rolled back, and the annotation is told of", async () => {
  expect(await passed({ annotations: { "daemonset.kruise.io/rollback-to": "1" } })).toEqual({
    told: [expect.stringMatching(/^RollbackUnsupported: /)],
    deleted: ["p"],
  });
});

it("DSP-926 a pod that comes back without its patch is replaced at growing intervals, and that is told", async () => {
  const { told, deleted, clock, pass } = scene({});
  await pass();
  await pass();
  expect([deleted.length, told.length]).toEqual([1, 1]);
  expect(told[0]).toMatch(/^PatchRolloutBlocked: .*node n1.*webhook/);
  await clock.advance(10_001);
  await pass();
  await clock.advance(10_001);
  await pass();
  expect(deleted).toHaveLength(2);
  await clock.advance(10_001);
  await pass();
  expect(deleted).toHaveLength(3);
});
