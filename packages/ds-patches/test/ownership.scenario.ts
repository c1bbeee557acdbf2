/** Which pods are a DaemonSet's, and until when. */
import { setTimeout as pause } from "node:timers/promises";
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import { createNodes, type DaemonNodes, type DaemonSets, daemonSetsOf } from "./support/daemon-sets.ts";

let stage: Stage;
let nodes: DaemonNodes;
let sets: DaemonSets;
beforeEach(async () => {
  stage = await openStage({ modules: [dsPatchesModule] });
  nodes = await createNodes(stage);
  sets = daemonSetsOf(stage, nodes);
});
afterEach(() => stage.close());

describe("pods and their owner", () => {
  it("ds-patches DSP-707: a pod that loses the labels of the selector is let go, lives on, and gets a successor", async () => {
    await nodes.add("n1");
    await stage.start();
    await sets.create({});
    await sets.settled(1);
    const pod = (await sets.byNode()).get("n1")!;
    await sets.patchPod(pod, { metadata: { labels: { app: "debugged" } } });
    await eventually(async () => {
      const pods = await sets.pods();
      const released = pods.find(({ metadata }) => metadata.uid === pod.metadata.uid);
      expect(released?.metadata.ownerReferences ?? []).toEqual([]);
      expect(pods).toHaveLength(2);
    });
    await sets.settled(1);
  });

  it("ds-patches DSP-703: a DaemonSet that is being deleted gets nothing more", async () => {
    await nodes.add("n1");
    await stage.start();
    await sets.create({});
    await sets.settled(1);
    await sets.patch({ metadata: { finalizers: ["example.com/hold"] } });
    stage.onClose(() => sets.patch({ metadata: { finalizers: null } }));
    await sets.delete();
    await eventually(async () => expect((await sets.get()).metadata.deletionTimestamp).toBeDefined());
    await pause(1_000);
    const since = Date.now();
    await sets.deletePod((await sets.byNode()).get("n1")!);
    await nodes.add("n2");
    await pause(3_000);
    expect(await stage.writes(since)).toEqual([]);
    expect(await sets.pods()).toEqual([]);
  });
});
