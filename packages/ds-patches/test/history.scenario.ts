/** The history: what a takeover finds, what is kept, and names that are taken. */
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import {
  createNodes,
  type DaemonNodes,
  type DaemonSets,
  daemonSetsOf,
  withContainer,
} from "./support/daemon-sets.ts";

const MERGE = { contentType: "application/merge-patch+json" };
const HASH = "controller-revision-hash";

interface Revision {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: object; ownerReferences: object[] };
  data: object;
  revision: number;
}

let stage: Stage;
let nodes: DaemonNodes;
let sets: DaemonSets;
beforeEach(async () => {
  stage = await openStage({ modules: [dsPatchesModule] });
  nodes = await createNodes(stage);
  sets = daemonSetsOf(stage, nodes);
});
afterEach(() => stage.close());

const path = (): string => `/apis/apps/v1/namespaces/${stage.namespace}/controllerrevisions`;
const revisions = async (): Promise<Revision[]> => (await sets.revisions()) as Revision[];
const numbers = async (): Promise<number[]> =>
  (await revisions()).map(({ revision }) => revision).sort((a, b) => a - b);
const uids = async (): Promise<string[]> => (await sets.pods()).map(({ metadata }) => metadata.uid).sort();

/** The same content under another hash, as another controller would have named it. */
async function copyAs(
  hash: string,
  { metadata, revision, ...rest }: Revision,
  data = rest.data,
): Promise<void> {
  const { labels, annotations, ownerReferences } = metadata;
  await stage.client.ok("POST", path(), {
    ...rest,
    data,
    metadata: { name: `agent-${hash}`, labels: { ...labels, [HASH]: hash }, annotations, ownerReferences },
    revision: revision + 1,
  });
}

describe("history of a DaemonSet", () => {
  it("ds-patches DSP-115 DSP-116 DSP-607 DSP-831 DSP-1008: under the hash of another controller everything stays as it was", async () => {
    await nodes.add("n1", "n2");
    const first = await stage.start();
    await sets.create({});
    await sets.settled(2);
    await first.stop();
    const [own] = await revisions();
    const { spec } = own!.data as { spec: { template: object } };
    // Kruise's own form: with nulls and empty objects.
    await copyAs("kruise99", own!, { spec: { template: { ...spec.template } } });
    await stage.client.ok("DELETE", `${path()}/${own!.metadata.name}`);
    for (const pod of await sets.pods())
      await sets.patchPod(pod, { metadata: { labels: { [HASH]: "kruise99" } } });
    await sets.patch({ metadata: { annotations: { touched: "1" } } });
    await stage.client.ok(
      "PATCH",
      `/apis/apps.kruise.io/v1beta1/namespaces/${stage.namespace}/daemonsets/agent/status`,
      { status: { updateRevision: "kruise99" } },
      MERGE,
    );
    const before = await uids();
    const since = Date.now();
    const second = await stage.start();
    await eventually(() => expect(second.reconciles("agent")).toBeGreaterThan(0));
    await sets.settled(2);
    expect((await sets.get()).status?.updateRevision).toBe("kruise99");
    expect(await uids()).toEqual(before);
    expect(await stage.writes(since)).toEqual([]);
    expect(await revisions()).toHaveLength(1);
  });

  it("ds-patches DSP-609: of two revisions of one template one stays, and pods of the other are relabelled alone", async () => {
    await nodes.add("n1", "n2");
    const first = await stage.start();
    await sets.create({});
    await sets.settled(2);
    await first.stop();
    const [own] = await revisions();
    await copyAs("other99", own!);
    const [named] = await sets.pods();
    await sets.patchPod(named!, { metadata: { labels: { [HASH]: "other99" } } });
    const before = await uids();
    await stage.start();
    await eventually(async () => {
      expect((await revisions()).map(({ metadata }) => metadata.labels[HASH])).toEqual(["other99"]);
      expect((await sets.pods()).map(({ metadata }) => metadata.labels[HASH])).toEqual([
        "other99",
        "other99",
      ]);
    });
    expect((await sets.get()).status?.updateRevision).toBe("other99");
    expect(await uids()).toEqual(before);
  });

  it("ds-patches DSP-608: a name that another content has is not fought for", async () => {
    await nodes.add("n1");
    const first = await stage.start();
    await sets.create({});
    await sets.settled(1);
    await first.stop();
    const [own] = await revisions();
    await stage.client.ok("DELETE", `${path()}/${own!.metadata.name}`);
    const { metadata, ...rest } = own!;
    await stage.client.ok("POST", path(), {
      ...rest,
      metadata: { name: metadata.name },
      data: { spec: { template: { $patch: "replace", metadata: { labels: { app: "agent" } }, spec: {} } } },
    });
    await stage.start();
    await eventually(async () => expect((await sets.get()).status?.collisionCount).toBe(1));
    await eventually(async () =>
      expect(`agent-${(await sets.get()).status?.updateRevision}`).not.toBe(metadata.name),
    );
    await sets.settled(1);
    const { items } = await stage.client.ok<{ items: Revision[] }>("GET", path());
    const taken = items.find(({ metadata: { name } }) => name === metadata.name);
    expect(taken?.metadata.ownerReferences).toBeUndefined();
  });

  it("ds-patches DSP-618 DSP-619 DSP-616: of old revisions the newest are kept, and those that pods still have", async () => {
    await nodes.add("n1", "n2");
    await stage.start();
    await sets.create({ revisionHistoryLimit: 1 });
    await sets.settled(2);
    for (const image of ["agent:2", "agent:3"]) {
      await sets.patch(withContainer({ image }));
      await sets.settled(2);
    }
    await eventually(async () => expect(await numbers()).toEqual([2, 3]));
    await sets.patch({
      spec: { revisionHistoryLimit: 0, updateStrategy: { rollingUpdate: { paused: true } } },
    });
    await sets.patch(withContainer({ image: "agent:4" }));
    // Pods have the third one until they roll.
    await eventually(async () => expect(await numbers()).toEqual([3, 4]));
    await sets.patch({ spec: { updateStrategy: { rollingUpdate: { paused: false } } } });
    await sets.settled(2);
    await eventually(async () => expect(await numbers()).toEqual([4]));
  });

  it("ds-patches DSP-604: the revision of the template holds it alone, and is marked while patches belong to the state", async () => {
    await nodes.add("n1");
    await stage.start();
    await sets.create({ patches: [{ selector: {}, patch: { metadata: { annotations: { a: "b" } } } }] });
    await sets.settled(1);
    const hash = (await sets.pods())[0]!.metadata.labels[HASH]!;
    const base = async (): Promise<Revision> =>
      (await revisions()).find(({ metadata }) => metadata.name === `agent-${hash}`)!;
    expect(await base()).toMatchObject({
      metadata: {
        labels: { app: "agent", [HASH]: hash },
        annotations: { "daemonset.kruise.io/base-only": "true" },
        ownerReferences: [{ kind: "DaemonSet", name: "agent", controller: true }],
      },
      data: { spec: { template: { $patch: "replace", metadata: { labels: { app: "agent" } } } } },
    });
    expect((await base()).data).not.toHaveProperty("spec.patches");
    await sets.patch({ spec: { patches: null } });
    await sets.settled(1);
    await eventually(async () =>
      expect((await base()).metadata.annotations ?? {}).not.toHaveProperty("daemonset.kruise.io/base-only"),
    );
  });

  it("ds-patches DSP-716: nothing is made by a selector of all pods, or of other pods than the template's", async () => {
    await nodes.add("n1");
    const manager = await stage.start();
    await sets.create({ selector: {} });
    const reasons = async (): Promise<string[]> => (await sets.events()).map(({ reason }) => reason);
    await eventually(async () => expect(await reasons()).toContain("SelectingAll"));
    await sets.patch({ spec: { selector: { matchLabels: { app: "other" } } } });
    await eventually(async () => expect(await reasons()).toContain("SelectorMismatch"));
    expect(manager.reconciles("agent")).toBeGreaterThan(0);
    expect(await stage.writes()).toEqual([]);
  });
});

describe("conditions of patches", () => {
  it("ds-patches DSP-832 DSP-829: what stands in the way of patches is told, and that all pods have them", async () => {
    await nodes.add("n1");
    await stage.start();
    const patches = (a: string): object[] => [{ selector: {}, patch: { metadata: { annotations: { a } } } }];
    await sets.create({ updateStrategy: { type: "OnDelete" }, patches: patches("1") });
    await sets.settled(1);
    const told = async (): Promise<string[]> =>
      ((await sets.get()).status?.conditions ?? []).map(
        ({ type, status, reason }) => `${type} ${status} ${reason}`,
      );
    await eventually(async () =>
      expect(await told()).toEqual([
        "PatchesValid True AllPatchesValid",
        "PatchesApplied True PatchesRolledOut",
      ]),
    );
    await sets.patch({ spec: { patches: patches("2") } });
    await eventually(async () => {
      expect((await sets.get()).status?.observedGeneration).toBe(2);
      expect(await told()).toContain("PatchesApplied False PatchRolloutBlocked");
    });
    await sets.deletePod((await sets.byNode()).get("n1")!);
    await eventually(async () => expect(await told()).toContain("PatchesApplied True PatchesRolledOut"));
    expect((await sets.events()).map(({ reason }) => reason)).toContain("PatchesRolledOut");
    await sets.patch({ spec: { patches: null } });
    await eventually(async () => expect(await told()).toEqual([]));
  });
});
