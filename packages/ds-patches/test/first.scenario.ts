/** The first scenarios of the rule book: pods on every node, patches by labels, and rolls that touch nothing else. */
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import {
  createNodes,
  type DaemonNodes,
  type DaemonSets,
  daemonSetsOf,
  type LivePod,
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

const LARGE = "node-role/nydus-storage";
const cachePatch = (value: string) => ({
  selector: { matchLabels: { [LARGE]: "large" } },
  patch: {
    spec: {
      containers: [
        {
          name: "main",
          env: [
            { name: "CACHE", value },
            { name: "BIG", value: "true" },
          ],
        },
      ],
    },
  },
});
const environment = (pod: LivePod): string[] =>
  pod.spec.containers[0]!.env.map(({ name, value }) => `${name}=${value}`);
const byNode = (pods: LivePod[]): Map<string, LivePod> =>
  new Map(pods.map((pod) => [nodes.shortName(pod.spec.nodeName ?? ""), pod]));

describe("DaemonSets with patches", () => {
  it("ds-patches S01 DSP-725 DSP-827: a pod on each node, counted, and back when it is deleted", async () => {
    await nodes.add("n1", "n2", "n3");
    await stage.start();
    await sets.create({});
    const { status } = await sets.settled(3);
    expect(status).toMatchObject({ currentNumberScheduled: 3, numberReady: 3, numberAvailable: 3 });
    const pods = byNode(await sets.pods());
    expect([...pods.keys()].sort()).toEqual(["n1", "n2", "n3"]);
    for (const pod of pods.values()) {
      expect(pod.metadata.labels["controller-revision-hash"]).toBe(status?.updateRevision);
      expect(pod.metadata.annotations?.["daemonset.kruise.io/patch-combined-hash"]).toBeUndefined();
    }
    await sets.deletePod(pods.get("n2")!);
    await eventually(async () => {
      const now = byNode(await sets.pods());
      expect(now.get("n2")?.metadata.uid).toBeDefined();
      expect(now.get("n2")?.metadata.uid).not.toBe(pods.get("n2")?.metadata.uid);
      expect(now.get("n1")?.metadata.uid).toBe(pods.get("n1")?.metadata.uid);
    });
  });

  it("ds-patches S04 DSP-413 DSP-509 DSP-514 DSP-1011: a labelled node gets its patch, others the template alone", async () => {
    await nodes.add("n2");
    await nodes.add({ name: "n1", labels: { [LARGE]: "large" } });
    const manager = await stage.start();
    await sets.create({ patches: [cachePatch("2Ti")] });
    await sets.settled(2);
    const pods = byNode(await sets.pods());
    expect(environment(pods.get("n1")!)).toEqual(["CACHE=2Ti", "BIG=true", "MODE=std"]);
    expect(environment(pods.get("n2")!)).toEqual(["CACHE=500Gi", "MODE=std"]);
    expect(pods.get("n1")?.metadata.annotations).toMatchObject({
      "daemonset.kruise.io/patch-combined-hash": expect.stringMatching(/^[0-9a-f]{16}$/),
      "daemonset.kruise.io/patches-applied": expect.stringMatching(/^[0-9a-f]{16}\/0$/),
    });
    expect(pods.get("n2")?.metadata.annotations?.["daemonset.kruise.io/patches-applied"]).toBeUndefined();
    const hashes = [...pods.values()].map(({ metadata }) => metadata.labels["controller-revision-hash"]);
    expect(new Set(hashes).size).toBe(1);
    const metrics = await manager.metrics();
    expect(metrics).toMatch(/^daemonset_patches_applied_total\{[^}]*mode="owner"[^}]*\} 1$/m);
    expect(metrics).toMatch(/^daemonset_patches_duration_seconds_count\{mode="owner",cache="miss"\} 1$/m);
    // What patches say is the user's own affair.
    for (const told of [metrics, manager.log(), JSON.stringify(await sets.events())]) {
      expect(told).not.toContain("2Ti");
    }
  });

  it("ds-patches S06 DSP-506: of patches that set one variable the last in order wins", async () => {
    await nodes.add("n1");
    await stage.start();
    const set = (priority: number, ...env: [string, string][]) => ({
      selector: {},
      priority,
      patch: { spec: { containers: [{ name: "main", env: env.map(([name, value]) => ({ name, value })) }] } },
    });
    await sets.create({
      patches: [set(10, ["CACHE", "a"]), set(0, ["CACHE", "b"], ["X", "1"]), set(10, ["CACHE", "c"])],
    });
    await sets.settled(1);
    const [pod] = await sets.pods();
    expect(environment(pod!)).toEqual(expect.arrayContaining(["CACHE=c", "X=1"]));
    expect(pod?.metadata.annotations?.["daemonset.kruise.io/patches-applied"]).toMatch(/\/1,0,2$/);
  });

  it("ds-patches S07 DSP-613 DSP-612 DSP-812: a changed patch replaces the pods of its nodes alone, one at a time", async () => {
    await nodes.add("n3", "n4", "n5");
    await nodes.add(
      { name: "n1", labels: { [LARGE]: "large" } },
      { name: "n2", labels: { [LARGE]: "large" } },
    );
    await stage.start();
    await sets.create({ patches: [cachePatch("2Ti")] });
    const before = await sets.settled(5);
    const old = byNode(await sets.pods());
    const watch = await sets.watchUnavailable();
    await sets.patch({ spec: { patches: [cachePatch("3Ti")] } });
    await eventually(async () => {
      const now = byNode(await sets.pods());
      for (const name of ["n1", "n2"]) expect(environment(now.get(name)!)).toContain("CACHE=3Ti");
    }, 60_000);
    const after = await sets.settled(5);
    expect(await watch.most()).toBe(1);
    const now = byNode(await sets.pods());
    for (const name of ["n3", "n4", "n5"]) {
      expect(now.get(name)?.metadata.uid).toBe(old.get(name)?.metadata.uid);
      expect(now.get(name)?.metadata.resourceVersion).toBe(old.get(name)?.metadata.resourceVersion);
    }
    expect(after.status?.updateRevision).toBe(before.status?.updateRevision);
    expect(after.status?.patchRevision).not.toBe(before.status?.patchRevision);
    expect(await sets.revisions()).toHaveLength(3);
  });

  it("ds-patches S09 DSP-614: another selector for the same nodes replaces no pod", async () => {
    await nodes.add({ name: "n1", labels: { [LARGE]: "large" } }, "n2");
    await stage.start();
    await sets.create({ patches: [cachePatch("2Ti")] });
    const { status } = await sets.settled(2);
    const uids = (await sets.pods()).map(({ metadata }) => metadata.uid).sort();
    const selector = { matchExpressions: [{ key: LARGE, operator: "In", values: ["large"] }] };
    await sets.patch({ spec: { patches: [{ ...cachePatch("2Ti"), selector }] } });
    await eventually(async () => {
      const next = await sets.get();
      expect(next.status?.observedGeneration).toBe(2);
      expect(next.status?.patchRevision).not.toBe(status?.patchRevision);
    });
    expect((await sets.pods()).map(({ metadata }) => metadata.uid).sort()).toEqual(uids);
  });

  it("ds-patches S08 DSP-615 DSP-711: a label brings its patch to the node, and only a label that stays", async () => {
    await nodes.add("n1", "n2");
    await stage.start({ flags: { "patch-drift-settle": 1_500 } });
    await sets.create({ patches: [cachePatch("2Ti")] });
    await sets.settled(2);
    const old = byNode(await sets.pods());
    await nodes.label("n1", { [LARGE]: "large" });
    await nodes.label("n1", { [LARGE]: null });
    await nodes.label("n2", { [LARGE]: "large" });
    await eventually(async () => {
      const now = byNode(await sets.pods());
      expect(environment(now.get("n2")!)).toContain("CACHE=2Ti");
    });
    await sets.settled(2);
    expect(byNode(await sets.pods()).get("n1")?.metadata.uid).toBe(old.get("n1")?.metadata.uid);
  });

  it("DSP-709 DSP-830 DSP-1045 at rest nothing is written or asked for, whatever heartbeats and labels that matter to no patch", async () => {
    await nodes.add("n1", { name: "n2", labels: { [LARGE]: "large" } });
    await stage.start();
    await sets.create({ patches: [cachePatch("2Ti")] });
    await sets.settled(2);
    const since = Date.now();
    await nodes.annotate("n1", { beat: "1" });
    await nodes.label("n2", { unrelated: "yes" });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await stage.cost(since)).toEqual([]);
  });
});
