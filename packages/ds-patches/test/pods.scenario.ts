/** Single pods and nodes: what comes back, what waits, and what nobody else would take away. */
import { TEST_ANNOTATIONS } from "@quartet/testing";
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import {
  container,
  createNodes,
  type DaemonNodes,
  type DaemonSets,
  daemonSetsOf,
  type LivePod,
  withContainer,
} from "./support/daemon-sets.ts";

let stage: Stage;
let nodes: DaemonNodes;
let sets: DaemonSets;
beforeEach(async () => {
  stage = await openStage({ modules: [dsPatchesModule] });
  nodes = await createNodes(stage);
  sets = daemonSetsOf(stage, nodes);
});
afterEach(() => stage.close());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const names = async (): Promise<string[]> => [...(await sets.byNode()).keys()].sort();
const uidOn = async (node: string): Promise<string | undefined> =>
  (await sets.byNode()).get(node)?.metadata.uid;
const isPreparing = ({ metadata }: LivePod): boolean =>
  metadata.labels["lifecycle.apps.kruise.io/state"] === "PreparingDelete";
const reasons = async (): Promise<string[]> => (await sets.events()).map(({ reason }) => reason);

describe("pods", () => {
  it("ds-patches S02 DSP-718 DSP-726: follow the labels of nodes, and the selector of the template", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    const colour = (color: string): object => ({
      metadata: { labels: { app: "agent" } },
      spec: { nodeSelector: { ...nodes.selector, color }, containers: [container()] },
    });
    await sets.create({ template: colour("blue") });
    await eventually(async () => expect((await sets.get()).status?.desiredNumberScheduled).toBe(0));
    await nodes.label("n1", { color: "blue" });
    await eventually(async () => expect(await names()).toEqual(["n1"]));
    await nodes.label("n1", { color: "green" });
    await eventually(async () => expect(await names()).toEqual([]));
    await sets.patch({ spec: { template: colour("green") } });
    await sets.settled(1);
    expect(await names()).toEqual(["n1"]);
  });

  it("ds-patches S03 DSP-727: a failed one is replaced at once, one that fails again after a pause that grows", async () => {
    await nodes.add("n1");
    await stage.start();
    await sets.create({});
    await sets.settled(1);
    const replaced = async (): Promise<number> => {
      const pod = (await sets.byNode()).get("n1")!;
      const start = Date.now();
      await sets.patchPod(pod, { status: { phase: "Failed" } }, "status");
      await eventually(async () => {
        const next = (await sets.byNode()).get("n1");
        expect(next?.metadata.uid).not.toBe(pod.metadata.uid);
        expect(next?.status?.phase).toBe("Running");
      });
      return Date.now() - start;
    };
    await replaced();
    const second = await replaced();
    const third = await replaced();
    expect(third).toBeGreaterThan(1_000);
    expect(second).toBeLessThan(60_000);
    expect(await reasons()).toContain("FailedDaemonPod");
  });

  it("ds-patches DSP-728 one that has succeeded, or was deleted by hand, is back", async () => {
    await nodes.add("n1");
    await stage.start();
    await sets.create({});
    await sets.settled(1);
    const first = (await sets.byNode()).get("n1")!;
    await sets.patchPod(first, { status: { phase: "Succeeded" } }, "status");
    await eventually(async () => expect([first.metadata.uid, undefined]).not.toContain(await uidOn("n1")));
    await eventually(async () => expect(await reasons()).toContain("SucceededDaemonPod"));
    await sets.settled(1);
    const second = (await sets.byNode()).get("n1")!;
    await sets.deletePod(second);
    await eventually(async () => expect([second.metadata.uid, undefined]).not.toContain(await uidOn("n1")));
  });

  it("ds-patches DSP-706 DSP-620: a DaemonSet that is made again takes over what was left of it, and restarts nothing", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    await sets.create({});
    const before = await sets.settled(2);
    const uids = (await sets.pods()).map(({ metadata }) => metadata.uid).sort();
    await sets.orphan();
    await sets.create({});
    const after = await sets.settled(2);
    expect((await sets.pods()).map(({ metadata }) => metadata.uid).sort()).toEqual(uids);
    expect(after.status?.updateRevision).toBe(before.status?.updateRevision);
    expect(await sets.revisions()).toHaveLength(1);
    for (const { metadata } of await sets.pods())
      expect(metadata.ownerReferences?.[0]?.uid).toBe(after.metadata.uid);
  });

  it("ds-patches S24 DSP-704: owner references of an older version are as good", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    await sets.create({});
    await sets.settled(2);
    for (const pod of await sets.pods()) {
      const ownerReferences = pod.metadata.ownerReferences?.map((owner) => ({
        ...owner,
        apiVersion: "apps.kruise.io/v1alpha1",
      }));
      await sets.patchPod(pod, { metadata: { ownerReferences } });
    }
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(2);
    for (const { spec } of await sets.pods()) expect(spec.containers[0]?.image).toBe("agent:2");
  });

  it("ds-patches S15 DSP-738: one that a hook holds is told of its end, waits, and the next one follows it", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    const labels = { app: "agent", "my-pre-delete": "true" };
    const template = {
      metadata: { labels },
      spec: { nodeSelector: nodes.selector, containers: [container()] },
    };
    await sets.create({ template, lifecycle: { preDelete: { labelsHandler: { "my-pre-delete": "true" } } } });
    await sets.settled(2);
    const first = new Set((await sets.pods()).map(({ metadata }) => metadata.uid));
    await sets.patch(withContainer({ env: [{ name: "A", value: "1" }] }));
    await eventually(async () => expect((await sets.pods()).filter(isPreparing)).toHaveLength(1));
    await pause(1_500);
    const waiting = (await sets.pods()).filter(isPreparing);
    expect(waiting).toHaveLength(1);
    expect((await sets.pods()).every(({ metadata }) => first.has(metadata.uid))).toBe(true);
    await sets.patchPod(waiting[0]!, { metadata: { labels: { "my-pre-delete": null } } });
    await eventually(async () => {
      const next = (await sets.pods()).filter(isPreparing);
      expect(next).toHaveLength(1);
      expect(next[0]?.metadata.uid).not.toBe(waiting[0]?.metadata.uid);
    });
    expect((await sets.pods()).filter(({ metadata }) => first.has(metadata.uid))).toHaveLength(1);
  });

  it("ds-patches DSP-739 DSP-121: a hook that makes pods unready does so, and only it does", async () => {
    await nodes.add("n1");
    await stage.start();
    const labels = { app: "agent", hook: "on" };
    const template = {
      metadata: { labels },
      spec: { nodeSelector: nodes.selector, containers: [container()] },
    };
    await sets.create({
      template,
      lifecycle: { preDelete: { labelsHandler: { hook: "on" }, markPodNotReady: true } },
    });
    await sets.settled(1);
    expect((await sets.pods())[0]?.spec.readinessGates).toEqual([{ conditionType: "KruisePodReady" }]);
    await sets.patch(withContainer({ image: "agent:2" }));
    await eventually(async () => expect((await sets.get()).status?.numberReady).toBe(0));
    await sets.patchPod((await sets.pods())[0]!, { metadata: { labels: { hook: null } } });
    await sets.settled(1);
  });
});

describe("nodes", () => {
  it("ds-patches S22 DSP-723: a patch that adds a toleration makes tainted nodes eligible", async () => {
    await nodes.add("n1", {
      name: "g1",
      labels: { gpu: "yes" },
      taints: [{ key: "gpu", effect: "NoSchedule" }],
    });
    await stage.start();
    await sets.create({});
    await sets.settled(1);
    const before = await uidOn("n1");
    const patch = { spec: { tolerations: [{ key: "gpu", operator: "Exists" }] } };
    await sets.patch({ spec: { patches: [{ selector: { matchLabels: { gpu: "yes" } }, patch }] } });
    await sets.settled(2);
    expect(await names()).toEqual(["g1", "n1"]);
    expect(await uidOn("n1")).toBe(before);
    const pod = (await sets.byNode()).get("g1")!;
    expect(pod.spec.tolerations).toHaveLength(7);
  });

  it("ds-patches S23 DSP-803 DSP-722: nodes that are not ready do not hold up the others", async () => {
    await nodes.add("n1", "n2", "n3", "n4", "n5");
    await stage.start();
    await sets.create({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } } });
    await sets.settled(5);
    const hold = { metadata: { annotations: { [TEST_ANNOTATIONS.hold]: "true" } } };
    for (const name of ["n4", "n5"]) {
      await sets.patchPod((await sets.byNode()).get(name)!, hold);
      await nodes.setReady(name, false);
    }
    await eventually(async () => expect((await sets.get()).status?.numberMisscheduled).toBe(2));
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(3);
    const images = new Map(
      [...(await sets.byNode())].map(([node, { spec }]) => [node, spec.containers[0]?.image]),
    );
    expect(["n1", "n2", "n3"].map((node) => images.get(node))).toEqual(Array(3).fill("agent:2"));
    expect(images.get("n4")).toBe("agent:1");
    for (const name of ["n4", "n5"]) await nodes.setReady(name, true);
    await sets.settled(5);
  });

  it("ds-patches DSP-710 DSP-708: a node that is deleted and made again under its name has its pod again", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    await sets.create({});
    await sets.settled(2);
    await nodes.remove("n2");
    await eventually(async () => expect((await sets.get()).status?.desiredNumberScheduled).toBe(1));
    await nodes.add("n2");
    await sets.settled(2);
    expect(await names()).toEqual(["n1", "n2"]);
  });

  it("ds-patches DSP-705 DSP-805 a pod that does not end on one node costs its place in the budget, and no more", async () => {
    await nodes.add("n1", "n2", "n3");
    await stage.start();
    await sets.create({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } } });
    await sets.settled(3);
    const stuck = (await sets.byNode()).get("n2")!;
    await sets.patchPod(stuck, { metadata: { finalizers: ["example.com/stuck"] } });
    await sets.deletePod(stuck);
    await sets.patch(withContainer({ image: "agent:2" }));
    await eventually(async () =>
      expect((await sets.get()).status).toMatchObject({ updatedNumberScheduled: 2, numberUnavailable: 1 }),
    );
    expect(await names()).toEqual(["n1", "n3"]);
    await sets.patchPod(stuck, { metadata: { finalizers: null } });
    await sets.settled(3);
  });
});

it("ds-patches S17 DSP-628 DSP-1002 DSP-1003 DSP-1004 DSP-1006 DSP-1007: without the gate nothing restarts, new pods are unpatched, and come back with it", async () => {
  await nodes.add("n1", "n2");
  const first = await stage.start();
  const env = [{ name: "CACHE", value: "2Ti" }];
  await sets.create({
    patches: [{ selector: {}, patch: { spec: { containers: [{ name: "main", env }] } } }],
  });
  await sets.settled(2);
  const patched = await sets.byNode();
  await first.stop();
  const second = await stage.start({ features: { AdvancedDaemonSetNodeLabelPatches: false } });
  await eventually(async () => {
    const { conditions = [] } = (await sets.get()).status ?? {};
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: "PatchesValid", reason: "FeatureDisabled" }),
    );
  });
  await pause(1_500);
  expect(await uidOn("n1")).toBe(patched.get("n1")?.metadata.uid);
  await sets.deletePod(patched.get("n1")!);
  const cacheOf = async (node: string): Promise<string | undefined> =>
    (await sets.byNode()).get(node)?.spec.containers[0]?.env.find(({ name }) => name === "CACHE")?.value;
  await eventually(async () => expect(await cacheOf("n1")).toBe("500Gi"));
  expect((await sets.get()).spec.patches).toHaveLength(1);
  // Another list gets no snapshot, and the one that is there still brings its list back.
  const snapshots = async (): Promise<number> =>
    JSON.stringify(await sets.revisions()).split('"daemonset.kruise.io/revision-kind":"patches"').length - 1;
  await sets.patch({ spec: { patches: [{ selector: {}, patch: { spec: { hostNetwork: true } } }] } });
  await eventually(async () => {
    const { metadata, status } = await sets.get();
    expect(status?.observedGeneration).toBe(metadata.generation);
  });
  expect(await snapshots()).toBe(1);
  await sets.patch({ metadata: { annotations: { "daemonset.kruise.io/rollback-to": "2" } } });
  await eventually(async () => expect(JSON.stringify((await sets.get()).spec.patches)).toContain("2Ti"));
  await second.stop();
  await stage.start();
  await eventually(async () => expect(await cacheOf("n1")).toBe("2Ti"));
  expect(await uidOn("n2")).toBe(patched.get("n2")?.metadata.uid);
});
