/** What the API server refuses: told in its words, tried again at growing intervals, and nothing that runs suffers. */
import { eventually, MAX_WRITES, openStage, type Refusal, refuse, type Stage } from "@quartet/testing/stage";
import { describe, expect, it } from "vitest";
import {
  createNodes,
  type DaemonNodes,
  type DaemonSets,
  daemonSetsOf,
  withContainer,
} from "../test/support/daemon-sets.ts";
import { dsPatchesModule } from "./index.ts";

interface Scene {
  readonly stage: Stage;
  readonly nodes: DaemonNodes;
  readonly sets: DaemonSets;
}

/** Each test has a stage of its own: most of its time it watches that nothing happens, and they all do so at once. */
async function onStage(play: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = await openStage({ modules: [dsPatchesModule] });
  try {
    const nodes = await createNodes(stage);
    await play({ stage, nodes, sets: daemonSetsOf(stage, nodes) });
  } finally {
    await stage.close();
  }
}

const NODES = ["n1", "n2", "n3", "n4"];
/** Longest wait between two tries is a minute. */
const LIFTED_MS = 100_000;
/** In the words of the policy. */
const TOLD = expect.stringContaining("not on a Friday");
const create: Refusal = { verb: "create", group: "", resource: "pods" };

describe.concurrent("a refusal", () => {
  it.each<[string, Refusal]>([
    ["FailedCreate", create],
    ["FailedCreate", { verb: "create", group: "apps", resource: "controllerrevisions" }],
  ])(
    "ds-patches DSP-735 %s of %o costs few requests, is told, and ends when it is lifted",
    (reason, refusal) =>
      onStage(async ({ stage, nodes, sets }) => {
        await nodes.add(...NODES);
        const { writes, lift } = await refuse({
          stage,
          module: dsPatchesModule,
          refusal,
          by: "policy",
          provoke: () => sets.create({}),
        });
        expect(writes.length).toBeLessThanOrEqual(MAX_WRITES);
        const events = (await sets.events()).filter((event) => event.reason === reason);
        expect(events.map(({ note }) => note)).toContainEqual(TOLD);
        await lift();
        await sets.settled(NODES.length);
      }),
  );

  it("ds-patches DSP-620 DSP-706 FailedClaim: of the adoption makes no pod beside the one that was left", () =>
    onStage(async ({ stage, nodes, sets }) => {
      await nodes.add("n1");
      const before = await stage.start();
      await sets.create({});
      await sets.settled(1);
      const [left] = await sets.pods();
      await sets.orphan();
      await before.stop();
      const { writes, lift } = await refuse({
        stage,
        module: dsPatchesModule,
        refusal: { verb: "patch", group: "", resource: "pods" },
        by: "policy",
        provoke: () => sets.create({}),
      });
      expect(writes.length).toBeLessThanOrEqual(MAX_WRITES);
      const events = (await sets.events()).filter(({ reason }) => reason === "FailedClaim");
      expect(events.map(({ note }) => note)).toContainEqual(TOLD);
      expect((await sets.pods()).map(({ metadata }) => metadata.uid)).toEqual([left?.metadata.uid]);
      await lift();
      await sets.settled(1);
      expect((await sets.pods()).map(({ metadata }) => metadata.uid)).toEqual([left?.metadata.uid]);
    }));

  it("ds-patches DSP-735 FailedDelete: of a rolling update leaves every pod where it is", () =>
    onStage(async ({ stage, nodes, sets }) => {
      await nodes.add(...NODES);
      const { writes, lift } = await refuse({
        stage,
        module: dsPatchesModule,
        refusal: { verb: "delete", group: "", resource: "pods" },
        by: "policy",
        async provoke() {
          await sets.create({});
          await sets.settled(NODES.length);
          await sets.patch(withContainer({ image: "agent:2" }));
        },
      });
      expect(writes.length).toBeLessThanOrEqual(MAX_WRITES);
      expect((await sets.get()).status).toMatchObject({
        numberAvailable: NODES.length,
        updatedNumberScheduled: 0,
      });
      const events = (await sets.events()).filter(({ reason }) => reason === "FailedDelete");
      expect(events.map(({ note }) => note)).toContainEqual(TOLD);
      await lift();
      await sets.settled(NODES.length);
    }));

  it("ds-patches DSP-626 RollbackFailed: of a rollback leaves the spec as it is, and takes off what asked for it", () =>
    onStage(async ({ stage, nodes, sets }) => {
      await nodes.add("n1");
      const templateOf = async (): Promise<string> => JSON.stringify((await sets.get()).spec.template);
      const { writes, lift } = await refuse({
        stage,
        module: dsPatchesModule,
        refusal: { verb: "patch", group: "apps.kruise.io", resource: "daemonsets" },
        by: "policy",
        async provoke() {
          await sets.create({});
          await sets.settled(1);
          await sets.patch(withContainer({ image: "agent:2" }));
          await sets.settled(1);
          await sets.patch({ metadata: { annotations: { "daemonset.kruise.io/rollback-to": "0" } } });
        },
      });
      expect(writes.length).toBeLessThanOrEqual(MAX_WRITES);
      const events = (await sets.events()).filter(({ reason }) => reason === "RollbackFailed");
      expect(events.map(({ note }) => note)).toContainEqual(TOLD);
      expect(await templateOf()).toContain("agent:2");
      await lift();
      // Whoever wants it still asks again.
      await eventually(async () => {
        expect((await sets.get()).metadata.annotations?.["daemonset.kruise.io/rollback-to"]).toBeUndefined();
      }, LIFTED_MS);
      expect(await templateOf()).toContain("agent:2");
    }));

  it("ds-patches DSP-830 DSP-1032: of the status keeps no pod from running", () =>
    onStage(async ({ stage, nodes, sets }) => {
      await nodes.add(...NODES);
      const { writes, lift } = await refuse({
        stage,
        module: dsPatchesModule,
        refusal: { verb: "patch", group: "apps.kruise.io", resource: "daemonsets/status" },
        by: "policy",
        provoke: () => sets.create({}),
      });
      expect(writes.filter((line) => line.startsWith("patch daemonsets")).length).toBeLessThanOrEqual(
        MAX_WRITES,
      );
      await eventually(async () => expect(await sets.pods()).toHaveLength(NODES.length));
      const events = (await sets.events()).filter(({ reason }) => reason === "FailedUpdateStatus");
      expect(events.map(({ note }) => note)).toContainEqual(TOLD);
      await lift();
      await sets.settled(NODES.length);
    }));
});
