/** Rolling updates: how many pods are away, which ones, and what stops and starts them. */
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

const rolling = (more: object): object => ({ type: "RollingUpdate", rollingUpdate: more });
const images = (pods: Iterable<LivePod>): string[] =>
  [...pods].map(({ spec }) => spec.containers[0]!.image).sort();
const imageOn = async (): Promise<Record<string, string>> =>
  Object.fromEntries([...(await sets.byNode())].map(([node, { spec }]) => [node, spec.containers[0]!.image]));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const template = (metadata: object, more: object = {}): object => ({
  metadata: { labels: { app: "agent" }, ...metadata },
  spec: { nodeSelector: nodes.selector, containers: [container(more)] },
});

describe("a rolling update", () => {
  it("ds-patches DSP-807 DSP-805 two updates within minReadySeconds take away one pod, not all", async () => {
    await nodes.add("n1", "n2", "n3", "n4");
    await stage.start();
    await sets.create({ minReadySeconds: 5 });
    await eventually(async () => expect((await sets.get()).status?.numberReady).toBe(4));
    const watch = await sets.watchUnavailable();
    await sets.patch(withContainer({ image: "agent:2" }));
    await eventually(async () => expect(images(await sets.pods())).toContain("agent:2"));
    await sets.patch(withContainer({ image: "agent:3" }));
    const isNewest = ({ spec }: LivePod): boolean => spec.containers[0]!.image === "agent:3";
    // A second pod goes once the first one has been ready for long enough.
    await eventually(async () => expect((await sets.pods()).filter(isNewest)).toHaveLength(2), 60_000);
    expect(await watch.most()).toBe(1);
  });

  it("ds-patches S13 DSP-808 DSP-809: a surge keeps the old pod until the new one has been ready for long enough", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    await sets.create({
      minReadySeconds: 4,
      updateStrategy: rolling({ maxSurge: "100%", maxUnavailable: 0 }),
      patches: [{ selector: {}, patch: { metadata: { annotations: { a: "1" } } } }],
    });
    await sets.settled(2);
    await sets.patch({
      spec: { patches: [{ selector: {}, patch: { metadata: { annotations: { a: "2" } } } }] },
    });
    await eventually(async () => expect(await sets.pods()).toHaveLength(4));
    const both = Date.now();
    await eventually(async () => expect(await sets.pods()).toHaveLength(2));
    // Times of conditions are whole seconds.
    expect(Date.now() - both).toBeGreaterThan(2_000);
    expect((await sets.pods()).map(({ metadata }) => metadata.annotations?.a)).toEqual(["2", "2"]);
    await sets.settled(2);
  });

  it("ds-patches S14 DSP-801 DSP-737: a pause and OnDelete hold it, and what comes anew is current all the same", async () => {
    await nodes.add("n1", "n2", "n3");
    await stage.start();
    await sets.create({ updateStrategy: rolling({ maxUnavailable: 3, paused: true }) });
    await sets.settled(3);
    await sets.patch(withContainer({ image: "agent:2" }));
    await eventually(async () => expect((await sets.get()).status?.updatedNumberScheduled).toBe(0));
    await pause(1_500);
    expect(images(await sets.pods())).toEqual(Array(3).fill("agent:1"));
    await sets.deletePod((await sets.byNode()).get("n2")!);
    await eventually(async () =>
      expect(await imageOn()).toEqual({ n1: "agent:1", n2: "agent:2", n3: "agent:1" }),
    );
    await sets.patch({ spec: { updateStrategy: { type: "OnDelete", rollingUpdate: null } } });
    await sets.patch(withContainer({ image: "agent:3" }));
    await eventually(async () => expect((await sets.get()).status?.observedGeneration).toBe(4));
    await pause(1_000);
    expect(await imageOn()).toEqual({ n1: "agent:1", n2: "agent:2", n3: "agent:1" });
    await sets.patch({ spec: { updateStrategy: rolling({ maxUnavailable: 3 }) } });
    await sets.settled(3);
    expect(images(await sets.pods())).toEqual(Array(3).fill("agent:3"));
  });

  it("ds-patches S14 DSP-804 DSP-814: partition and selector choose the nodes", async () => {
    await nodes.add("n1", "n2", "n3", "n4", "n5");
    await stage.start();
    await sets.create({ updateStrategy: rolling({ maxUnavailable: 5, partition: 3 }) });
    await sets.settled(5);
    await sets.patch(withContainer({ image: "agent:2" }));
    await eventually(async () =>
      expect(await imageOn()).toEqual({
        n1: "agent:1",
        n2: "agent:1",
        n3: "agent:1",
        n4: "agent:2",
        n5: "agent:2",
      }),
    );
    const selector = { matchLabels: { canary: "yes" } };
    await sets.patch({ spec: { updateStrategy: rolling({ maxUnavailable: 5, partition: 0, selector }) } });
    await nodes.label("n1", { canary: "yes" });
    await eventually(async () => expect((await imageOn()).n1).toBe("agent:2"));
    await nodes.label("n1", { canary: null });
    await pause(1_500);
    expect(await imageOn()).toEqual({
      n1: "agent:2",
      n2: "agent:1",
      n3: "agent:1",
      n4: "agent:2",
      n5: "agent:2",
    });
  });

  it("ds-patches DSP-815: an edit of patches amid a rollout takes each node to the newest, and again only where that differs", async () => {
    await nodes.add("n1", "n2", "n3");
    await stage.start();
    const begin = Date.now();
    const patched = (value: string, more: object[] = []): object => ({
      patches: [{ selector: {}, patch: { metadata: { annotations: { value } } } }, ...more],
    });
    const values = async (): Promise<unknown[]> =>
      (await sets.pods()).map(({ metadata }) => metadata.annotations?.value).sort();
    const partition = (count: number): object => ({
      updateStrategy: rolling({ maxUnavailable: 1, partition: count }),
    });
    await sets.create({ ...partition(2), ...patched("1") });
    await sets.settled(3);
    await sets.patch({ spec: patched("2") });
    await eventually(async () => expect(await values()).toEqual(["1", "1", "2"]));
    const nobody = { selector: { matchLabels: { no: "node" } }, patch: { metadata: { labels: { x: "y" } } } };
    await sets.patch({ spec: patched("2", [nobody]) });
    await sets.patch({ spec: { ...patched("3", [nobody]), ...partition(0) } });
    await sets.settled(3);
    expect(await values()).toEqual(["3", "3", "3"]);
    // Three, the one with the second value, and three: the patch of no node is no reason.
    const created = (await stage.writes(begin)).filter((write) => write.startsWith("create pods "));
    expect(created).toHaveLength(7);
  });

  it("ds-patches S14 DSP-736: creations obey the partition when asked to", async () => {
    await nodes.add("n1", "n2", "n3");
    await stage.start();
    const strategy = (partition: number) => ({ updateStrategy: rolling({ maxUnavailable: 1, partition }) });
    await sets.create({ ...strategy(3), scaleStrategy: { partitionedScaling: true } });
    await eventually(async () => expect((await sets.get()).status?.desiredNumberScheduled).toBe(3));
    await pause(1_000);
    expect(await sets.pods()).toEqual([]);
    await sets.patch({ spec: strategy(2) });
    await eventually(async () => expect(Object.keys(await imageOn())).toEqual(["n1"]));
    await sets.patch({ spec: strategy(0) });
    await sets.settled(3);
  });

  it("ds-patches DSP-805 DSP-806 a broken template stops at the budget, and its correction needs no hand", async () => {
    await nodes.add("n1", "n2", "n3", "n4");
    await stage.start();
    await sets.create({});
    await sets.settled(4);
    const held = { [TEST_ANNOTATIONS.hold]: "CrashLoopBackOff" };
    await sets.patch({ spec: { template: template({ annotations: held }, { image: "agent:bad" }) } });
    await eventually(async () => expect(images(await sets.pods())).toContain("agent:bad"));
    await pause(2_000);
    expect(images(await sets.pods())).toEqual(["agent:1", "agent:1", "agent:1", "agent:bad"]);
    const good = { [TEST_ANNOTATIONS.hold]: null };
    await sets.patch({ spec: { template: template({ annotations: good }, { image: "agent:2" }) } });
    await sets.settled(4);
    expect(images(await sets.pods())).toEqual(Array(4).fill("agent:2"));
  });

  it("ds-patches DSP-805 old pods that are not ready go first, all at once", async () => {
    await nodes.add("n1", "n2", "n3", "n4");
    await stage.start();
    await sets.create({ updateStrategy: rolling({ maxUnavailable: 1 }) });
    await sets.settled(4);
    const hold = { metadata: { annotations: { [TEST_ANNOTATIONS.hold]: "true" } } };
    const before = await sets.byNode();
    for (const name of ["n1", "n2"]) await sets.patchPod(before.get(name)!, hold);
    await eventually(async () => expect((await sets.get()).status?.numberUnavailable).toBe(2));
    const watch = await sets.watchUnavailable();
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(4);
    // The two that were down already, and never a third.
    expect(await watch.most()).toBe(2);
  });

  it("ds-patches S18 DSP-715: another manager goes on where one ended, with the same budget and no pod replaced twice", async () => {
    await nodes.add("n1", "n2", "n3", "n4", "n5", "n6");
    const first = await stage.start();
    await sets.create({ updateStrategy: rolling({ maxUnavailable: 2 }), minReadySeconds: 1 });
    await sets.settled(6);
    const watch = await sets.watchUnavailable();
    await sets.patch(withContainer({ image: "agent:2" }));
    await eventually(async () => expect(images(await sets.pods())).toContain("agent:2"));
    await first.stop();
    const replaced = (await sets.pods()).filter(({ spec }) => spec.containers[0]!.image === "agent:2");
    await stage.start();
    await sets.settled(6);
    expect(await watch.most()).toBeLessThanOrEqual(2);
    const uids = new Set((await sets.pods()).map(({ metadata }) => metadata.uid));
    for (const { metadata } of replaced) expect(uids).toContain(metadata.uid);
    expect(await sets.pods()).toHaveLength(6);
  });
});
