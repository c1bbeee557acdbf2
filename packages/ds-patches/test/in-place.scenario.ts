/** Pods that are changed without being made anew, and specs that go back to what they were. */
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import {
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

const inPlace = (maxUnavailable: number): object => ({
  updateStrategy: {
    type: "RollingUpdate",
    rollingUpdate: { rollingUpdateType: "InPlaceIfPossible", maxUnavailable },
  },
});
const GPU = { gpu: "yes" };
const pinned = {
  selector: { matchLabels: GPU },
  patch: { spec: { containers: [{ name: "main", image: "agent:gpu" }] } },
};
const uidsOf = (pods: Map<string, LivePod>): string[] =>
  [...pods.values()].map(({ metadata }) => metadata.uid).sort();
const imageOf = (pods: Map<string, LivePod>, node: string): string | undefined =>
  pods.get(node)?.spec.containers[0]?.image;
const cachePatch = (value: string): object => ({
  selector: { matchLabels: GPU },
  patch: { spec: { containers: [{ name: "main", env: [{ name: "CACHE", value }] }] } },
});
const cacheOn = (pods: Map<string, LivePod>, node: string): string | undefined =>
  pods.get(node)?.spec.containers[0]?.env.find(({ name }) => name === "CACHE")?.value;

describe("updates in place", () => {
  it("ds-patches S12 DSP-817 DSP-819 DSP-820 DSP-821 DSP-824: a new image comes in place, a patched one stays", async () => {
    await nodes.add({ name: "n1", labels: GPU }, "n2", "n3");
    await stage.start();
    await sets.create({ ...inPlace(5), patches: [pinned] });
    await sets.settled(3);
    const before = await sets.byNode();
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(3);
    const after = await sets.byNode();
    expect(uidsOf(after)).toEqual(uidsOf(before));
    expect([...after.keys()].sort().map((node) => imageOf(after, node))).toEqual([
      "agent:gpu",
      "agent:2",
      "agent:2",
    ]);
    expect(after.get("n1")?.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    await eventually(async () =>
      expect((await sets.events()).map(({ reason }) => reason)).toContain("SuccessfulUpdatePodInPlace"),
    );
    await sets.patch(withContainer({ image: "agent:2", env: [{ name: "CACHE", value: "1Gi" }] }));
    await sets.settled(3);
    const anew = await sets.byNode();
    for (const uid of uidsOf(before)) expect(uidsOf(anew)).not.toContain(uid);
    for (const { spec } of anew.values()) {
      expect(spec.readinessGates).toContainEqual({ conditionType: "InPlaceUpdateReady" });
    }
  });

  it("ds-patches DSP-713 DSP-825 DSP-822 they obey the budget, one pod after the other", async () => {
    await nodes.add("n1", "n2", "n3");
    await stage.start();
    await sets.create({ ...inPlace(1), minReadySeconds: 1 });
    await sets.settled(3);
    const before = uidsOf(await sets.byNode());
    const watch = await sets.watchUnavailable();
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(3);
    expect(await watch.most()).toBeLessThanOrEqual(1);
    expect(uidsOf(await sets.byNode())).toEqual(before);
  });

  it("ds-patches DSP-826 pods from before the strategy was chosen are made anew once, the choice alone restarts nothing", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    await sets.create({});
    await sets.settled(2);
    const first = uidsOf(await sets.byNode());
    await sets.patch({ spec: inPlace(2) });
    await sets.settled(2);
    expect(uidsOf(await sets.byNode())).toEqual(first);
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(2);
    const second = uidsOf(await sets.byNode());
    for (const uid of first) expect(second).not.toContain(uid);
    await sets.patch(withContainer({ image: "agent:3" }));
    await sets.settled(2);
    expect(uidsOf(await sets.byNode())).toEqual(second);
  });
});

describe("a rollback", () => {
  it("ds-patches S10 S11 DSP-617 DSP-621 DSP-623 DSP-627: brings back template and patches, each node restarted once", async () => {
    await nodes.add({ name: "n1", labels: GPU }, "n2", "n3");
    await stage.start();
    await sets.create({ patches: [cachePatch("3Ti")] });
    await sets.settled(3);
    const { spec: next } = withContainer({ image: "agent:2" });
    await sets.patch({ spec: { ...next, patches: [cachePatch("4Ti")] } });
    await sets.settled(3);
    const second = await sets.byNode();
    expect([imageOf(second, "n1"), cacheOn(second, "n1"), imageOf(second, "n2")]).toEqual([
      "agent:2",
      "4Ti",
      "agent:2",
    ]);
    const created = async (): Promise<number> =>
      (await stage.writes()).filter((line) => line.startsWith("create pods")).length;
    expect(await created()).toBe(6);
    const watch = await sets.watchUnavailable();
    await sets.patch({ metadata: { annotations: { "daemonset.kruise.io/rollback-to": "0" } } });
    await eventually(async () =>
      expect((await sets.events()).map(({ reason }) => reason)).toContain("RollbackDone"),
    );
    await sets.settled(3);
    expect(await watch.most()).toBeLessThanOrEqual(1);
    const third = await sets.byNode();
    expect([imageOf(third, "n1"), cacheOn(third, "n1"), imageOf(third, "n2")]).toEqual([
      "agent:1",
      "3Ti",
      "agent:1",
    ]);
    expect(await created()).toBe(9);
    const { metadata, spec } = await sets.get();
    expect(metadata.annotations?.["daemonset.kruise.io/rollback-to"]).toBeUndefined();
    await sets.patch({ metadata: { annotations: { "daemonset.kruise.io/rollback-to": "999" } } });
    await eventually(async () =>
      expect((await sets.events()).map(({ reason }) => reason)).toContain("RollbackRevisionNotFound"),
    );
    expect((await sets.get()).spec).toEqual(spec);
  });

  it("ds-patches DSP-611 DSP-622 DSP-623: back and forth between the template alone and the template with patches", async () => {
    await nodes.add({ name: "n1", labels: GPU }, "n2");
    await stage.start();
    await sets.create({});
    await sets.settled(2);
    const alone = await sets.byNode();
    await sets.patch({ spec: { patches: [cachePatch("3Ti")] } });
    await eventually(async () => expect(cacheOn(await sets.byNode(), "n1")).toBe("3Ti"));
    await sets.settled(2);
    await sets.patch({ spec: { patches: null } });
    await eventually(async () => expect(cacheOn(await sets.byNode(), "n1")).toBe("500Gi"));
    await sets.settled(2);
    const back = { metadata: { annotations: { "daemonset.kruise.io/rollback-to": "0" } } };
    await sets.patch(back);
    await eventually(async () => expect(cacheOn(await sets.byNode(), "n1")).toBe("3Ti"));
    await sets.settled(2);
    await sets.patch(back);
    await eventually(async () => expect(cacheOn(await sets.byNode(), "n1")).toBe("500Gi"));
    await sets.settled(2);
    expect((await sets.get()).spec.patches).toBeUndefined();
    expect((await sets.byNode()).get("n2")?.metadata.uid).toBe(alone.get("n2")?.metadata.uid);
  });

  it("ds-patches DSP-611 DSP-623: 0 is the state before, also when the present one is an old template with patches", async () => {
    await nodes.add({ name: "n1", labels: GPU });
    await stage.start();
    await sets.create({});
    await sets.settled(1);
    await sets.patch(withContainer({ image: "agent:2" }));
    await sets.settled(1);
    const { spec: first } = withContainer({ image: "agent:1" });
    await sets.patch({ spec: { ...first, patches: [cachePatch("3Ti")] } });
    await eventually(async () => expect(cacheOn(await sets.byNode(), "n1")).toBe("3Ti"));
    await sets.settled(1);
    await sets.patch({ metadata: { annotations: { "daemonset.kruise.io/rollback-to": "0" } } });
    await eventually(async () => expect(imageOf(await sets.byNode(), "n1")).toBe("agent:2"));
    expect((await sets.get()).spec.patches).toBeUndefined();
  });
});
