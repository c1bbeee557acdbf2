import { createExpectations, type DeepReadonly } from "@quartet/core";
import type { Node, Pod } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { beforeEach, expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { createMemoryStore, type DaemonSetMemory } from "./memory.ts";
import { type Observation, observe } from "./observe.ts";

const NOW = Date.parse("2026-01-02T03:04:00Z");
const daemonSet: DaemonSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t", uid: "u", generation: 1 },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "m", image: "i" }] } },
    lifecycle: { preDelete: { labelsHandler: { hook: "on" }, finalizersHandler: ["x.io/hold"] } },
  },
};
const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" }, spec: { taints: [] } } as Node;

interface Parts {
  metadata?: object;
  spec?: object;
  conditions?: object[];
  phase?: string;
}
const pod = ({ metadata, spec, conditions = [], phase = "Running" }: Parts = {}): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      uid: "p",
      creationTimestamp: "2026-01-02T03:00:00Z",
      labels: { "controller-revision-hash": "r1" },
      ...metadata,
    },
    spec: { nodeName: "n1", ...spec },
    status: { phase, conditions },
  }) as Pod;

let memory: DaemonSetMemory;
beforeEach(() => {
  memory = createMemoryStore(true, createExpectations(fakeClock())).of(daemonSet);
});
const look = (pods: DeepReadonly<Pod>[], now = NOW): Promise<Observation> =>
  observe({
    ...{
      daemonSet,
      pods,
      memory,
      now,
      nodes: [node],
      revisions: new Set(["r1"]),
      patchesEnabled: true,
      settleMs: 0,
    },
    monotonic: () => 0,
  });
const ready = (lastTransitionTime: string): Pod =>
  pod({ conditions: [{ type: "Ready", status: "True", lastTransitionTime }] });
const sinceOf = async (one: Pod, now = NOW): Promise<number> => {
  const { nodes } = await look([one], now);
  return (now - nodes[0]!.pods[0]!.readySince!) / 1_000;
};

it("DSP-807 a node whose clock is ahead delays nothing: its pod is ready since it was seen so", async () => {
  const ahead = ready("2026-01-02T04:00:00Z");
  expect(await sinceOf(ahead)).toBe(0);
  expect(await sinceOf(ahead, NOW + 10_000)).toBe(10);
  expect(await sinceOf(ready("2026-01-02T04:30:00Z"), NOW + 20_000)).toBe(0);
});

it("DSP-807 a node whose clock is behind has no pod that was ready before it was made", async () => {
  expect(await sinceOf(ready("2026-01-01T00:00:00Z"))).toBe(4 * 60);
  expect(await sinceOf(ready("2026-01-02T03:03:00Z"))).toBe(60);
});

it("DSP-725 a pod on its way out keeps its node, unless it has ended", async () => {
  const going = { deletionTimestamp: "2026-01-02T03:03:00Z" };
  const terminating = async (phase: string): Promise<boolean | undefined> =>
    (await look([pod({ metadata: going, phase })])).nodes[0]?.terminating;
  expect(await terminating("Running")).toBe(true);
  expect(await terminating("Failed")).toBe(false);
});

it("DSP-121 DSP-823 gates are opened that nobody else opens, and not those that something holds", async () => {
  const gated = async (type: string, conditions: object[], metadata: object = {}) =>
    (
      await look([pod({ metadata, conditions, spec: { readinessGates: [{ conditionType: type }] } })])
    ).gated.flatMap(({ gates }) => gates);
  expect(await gated("InPlaceUpdateReady", [])).toEqual(["InPlaceUpdateReady"]);
  expect(await gated("InPlaceUpdateReady", [{ type: "InPlaceUpdateReady", status: "True" }])).toEqual([]);
  expect(await gated("InPlaceUpdateReady", [{ type: "InPlaceUpdateReady", status: "False" }])).toHaveLength(
    1,
  );
  const state = JSON.stringify({
    updateTimestamp: "2026-01-02T03:04:00Z",
    lastContainerStatuses: { m: { imageID: "1" } },
  });
  const updating = { annotations: { "apps.kruise.io/inplace-update-state": state } };
  expect(
    await gated("InPlaceUpdateReady", [{ type: "InPlaceUpdateReady", status: "False" }], updating),
  ).toEqual([]);
  expect(await gated("KruisePodReady", [])).toEqual(["KruisePodReady"]);
  expect(await gated("KruisePodReady", [{ type: "KruisePodReady", status: "False" }])).toEqual([]);
  expect(await gated("example.com/other", [])).toEqual([]);
});

it("DSP-738 a label's value or a finalizer of the hook holds a pod", async () => {
  const hooked = async (metadata: object): Promise<boolean | undefined> =>
    (await look([pod({ metadata })])).nodes[0]?.pods[0]?.hooked;
  expect(await hooked({ labels: { hook: "on" } })).toBe(true);
  expect(await hooked({ labels: { hook: "off" } })).toBe(false);
  expect(await hooked({ finalizers: ["x.io/hold"] })).toBe(true);
  expect(await hooked({ finalizers: ["x.io/other"] })).toBe(false);
});
