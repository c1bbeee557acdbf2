import { setImmediate } from "node:timers/promises";
import { createExpectations, type DeepReadonly } from "@quartet/core";
import type { Node, Pod } from "@quartet/core/kinds";
import { fakeClock } from "@quartet/core/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { planRolling } from "../desired/rolling.ts";
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
const look = (
  pods: DeepReadonly<Pod>[],
  now = NOW,
  more: Partial<Parameters<typeof observe>[0]> = {},
): Promise<Observation> =>
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
    ...more,
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

it("DSP-706 DSP-732 a pod that names no node is left to the scheduler, one whose node is gone is not", async () => {
  const pinnedTo = (name: string): object => ({
    nodeName: undefined,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] }],
        },
      },
    },
  });
  const nodesOf = async (spec: object): Promise<string[]> =>
    (await look([pod({ spec })])).nodes.filter(({ pods }) => pods.length > 0).map(({ name }) => name);
  expect(await nodesOf({ nodeName: undefined })).toEqual([]);
  expect(await nodesOf(pinnedTo("gone"))).toEqual(["gone"]);
  expect(await nodesOf({})).toEqual(["n1"]);
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

it("DSP-603 a pod is current by the hash of its template or its generation, and by the patches that it got", async () => {
  const generation = { "deprecated.daemonset.template.generation": "7" };
  const own = { ...daemonSet, metadata: { ...daemonSet.metadata, annotations: generation } };
  const current = async (labels: object, annotations: object = {}): Promise<boolean | undefined> =>
    (await look([pod({ metadata: { labels, annotations } })], NOW, { daemonSet: own })).nodes[0]?.pods[0]
      ?.current;
  expect(await current({ "controller-revision-hash": "r1" })).toBe(true);
  expect(await current({ "controller-revision-hash": "r0" })).toBe(false);
  expect(await current({ "controller-revision-hash": "r0", "pod-template-generation": "7" })).toBe(true);
  expect(await current({ "pod-template-generation": "6" })).toBe(false);
  const patched = (hash: string): object => ({ "daemonset.kruise.io/patch-combined-hash": hash });
  expect(await current({ "controller-revision-hash": "r1" }, patched(""))).toBe(true);
  expect(await current({ "controller-revision-hash": "r1" }, patched("0123456789abcdef"))).toBe(false);
});

describe("many nodes", () => {
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const patched: DaemonSet = {
    ...daemonSet,
    spec: {
      ...daemonSet.spec,
      patches: [
        { selector: { matchLabels: { size: "large" } }, patch: { metadata: { annotations: { a: "2" } } } },
      ],
    },
  };
  const nodes = names.map((name): Node => {
    const labels: Record<string, string> = name === "n0" ? { size: "large" } : {};
    return { ...node, metadata: { name, labels } } as Node;
  });
  /** One stale by its node's label, one by a patch that is gone, one by the template; all ready. */
  const stale: Readonly<Record<string, object>> = {
    n1: { annotations: { "daemonset.kruise.io/patch-combined-hash": "0123456789abcdef" } },
    n2: { labels: { "controller-revision-hash": "r0" } },
  };
  const pods = names.map((name) =>
    pod({
      metadata: { name, uid: name, ...stale[name] },
      spec: { nodeName: name },
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-02T03:01:00Z" }],
    }),
  );
  const rolled = async (enabled: boolean, revision = "r1"): Promise<string[]> => {
    const store = createMemoryStore(enabled, createExpectations(fakeClock()));
    const options = { daemonSet: patched, nodes, patchesEnabled: enabled, memory: store.of(patched) };
    const found = await look(pods, NOW, { ...options, revisions: new Set([revision]) });
    const now = { ...{ maxSurge: 0, partition: 0, isSelected: () => true, minReadyMs: 0 }, now: NOW };
    return planRolling(found.nodes, { ...now, maxUnavailable: 3 }).replace.map(({ name }) => name);
  };

  it("DSP-811 pods that are stale by the template, by a patch and by a label share one budget", async () => {
    expect(await rolled(true)).toEqual(["n2", "n1", "n0"]);
    // Now the other seven are stale as well.
    expect(await rolled(true, "r2")).toHaveLength(3);
  });

  it("DSP-1003 DSP-1005 without the gate only the template makes pods stale, and it makes all", async () => {
    expect(await rolled(false)).toEqual(["n2"]);
    expect(await rolled(false, "r2")).toEqual(["n9", "n8", "n7"]);
  });

  it("DSP-1049 a look at many nodes lets others have their turn", async () => {
    const thousand = Array.from({ length: 1_000 }, (_, index) => ({
      ...node,
      metadata: { name: `n${index}` },
    }));
    let turns = 0;
    let isDone = false;
    const looking = look([], NOW, { nodes: thousand as Node[] }).then(() => {
      isDone = true;
    });
    while (!isDone) {
      turns += 1;
      await setImmediate();
    }
    await looking;
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});
