/** Two controllers never act on one DaemonSet: what this one does where OpenKruise is, or comes. */
import { type ApiServer, installCrds, startControlPlane } from "@quartet/testing";
import { crdsOf, eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import { createNodes, type DaemonNodes, type DaemonSets, daemonSetsOf } from "./support/daemon-sets.ts";
import { kruiseSigns } from "./support/kruise-signs.ts";

/** Signs of an OpenKruise are the whole cluster's: other scenarios must not see them. */
const POD_CIDR = "127.3.0.0/16";
/** A pod that would be made is made in much less. */
const QUIET_MS = 3_000;

let server: ApiServer | undefined;
beforeAll(async () => {
  if (process.env.QUARTET_TARGET === "real") server = await startControlPlane({ podCidr: POD_CIDR });
});
afterAll(() => server?.stop());

let stage: Stage;
let nodes: DaemonNodes;
let sets: DaemonSets;
let kruise: ReturnType<typeof kruiseSigns>;
beforeEach(async () => {
  stage = await openStage({ modules: [dsPatchesModule], ...(server && { server }) });
  nodes = await createNodes(stage);
  sets = daemonSetsOf(stage, nodes);
  kruise = kruiseSigns(stage);
  await nodes.add("n1", "n2");
});
afterEach(() => stage.close());

type Manager = Awaited<ReturnType<Stage["start"]>>;
const modeOf = async (manager: Manager): Promise<string[]> =>
  [...(await manager.metrics()).matchAll(/^daemonset_controller_mode\{mode="(\w+)"\} 1$/gm)].map(
    ([, mode]) => mode!,
  );
const untilMode = (manager: Manager, mode: string): Promise<void> =>
  eventually(async () => expect(await modeOf(manager)).toEqual([mode]));
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, QUIET_MS));
const start = (mode: string): Promise<Manager> => stage.start({ flags: { "daemonset-mode": mode } });

describe("modes of DaemonSets", () => {
  it("DSP-104 DSP-120 as owner beside OpenKruise it does nothing, says why, and begins when that is gone", async () => {
    await kruise.webhook();
    await sets.create({});
    const manager = await start("owner");
    await untilMode(manager, "blocked");
    expect(manager.log()).toContain("MutatingWebhookConfiguration kruise-mutating-webhook-configuration");
    await quiet();
    expect(await sets.pods()).toEqual([]);
    expect(await stage.writes()).toEqual([]);
    await kruise.removeWebhook();
    await sets.settled(2);
    expect(await modeOf(manager)).toEqual(["owner"]);
  });

  it("DSP-105 S3: under a definition of others it waits for the adoption, and names the command", async () => {
    await kruise.foreignDefinition();
    await sets.create({});
    const manager = await start("owner");
    await untilMode(manager, "blocked");
    expect(manager.log()).toContain("quartet adopt-crd daemonsets.apps.kruise.io");
    await quiet();
    expect(await sets.pods()).toEqual([]);
    await kruise.ownDefinition();
    await sets.settled(2);
  });

  it("DSP-103 DSP-110 auto: beside a held Lease it is a companion, and stays one when that expires", async () => {
    await kruise.lease({ ageMs: 0, durationSeconds: 1 });
    await sets.create({});
    const manager = await start("auto");
    await untilMode(manager, "companion");
    expect(manager.log()).toMatch(/Lease kruise-system\/kruise-manager held by/);
    await new Promise((resolve) => setTimeout(resolve, 4_000 + QUIET_MS));
    expect(await modeOf(manager)).toEqual(["companion"]);
    expect(await sets.pods()).toEqual([]);
    expect(await stage.writes()).toEqual([]);
  });

  it("DSP-103 auto: a Lease that was left behind is no sign, and without the kind it waits", async () => {
    await kruise.lease({ ageMs: 3_600_000 });
    await kruise.removeDefinition();
    const manager = await start("auto");
    await quiet();
    expect(await modeOf(manager)).toEqual(["waiting"]);
    await installCrds(stage.client, crdsOf([dsPatchesModule]));
    await untilMode(manager, "owner");
    await sets.create({});
    await sets.settled(2);
  });

  it("ds-patches S19 DSP-107 DSP-108 DSP-109 DSP-111 DSP-118 an owner yields within 5 s, tells each DaemonSet, and writes nothing more", async () => {
    await sets.create({ patches: [{ selector: {}, patch: { metadata: { annotations: { a: "b" } } } }] });
    const manager = await start("auto");
    const { status } = await sets.settled(2);
    const [pod, other] = await sets.pods();
    const since = Date.now();
    await kruise.webhook();
    await kruise.lease({ ageMs: 0 });
    await untilMode(manager, "companion");
    expect(Date.now() - since).toBeLessThan(5_000);
    await eventually(async () => expect(await kruise.events()).toContain("ControllerYielded"));
    const yielded = Date.now();
    await sets.deletePod(pod!);
    await sets.patch({ spec: { template: { metadata: { annotations: { c: "d" } } } } });
    await quiet();
    const [left, ...more] = await sets.pods();
    expect(more).toEqual([]);
    expect(left?.metadata).toMatchObject({ uid: other?.metadata.uid, annotations: { a: "b" } });
    expect(await stage.writes(yielded)).toEqual([]);
    expect((await sets.get()).status).toEqual(status);
    await kruise.removeWebhook();
    await kruise.removeLease();
    await quiet();
    expect(await modeOf(manager)).toEqual(["companion"]);
    expect(await stage.writes(yielded)).toEqual([]);
  });

  it("DSP-107 an owner whose definition is replaced rests: patches that the other one drops restart no pod", async () => {
    await sets.create({ patches: [{ selector: {}, patch: { metadata: { annotations: { a: "b" } } } }] });
    const manager = await start("auto");
    await sets.settled(2);
    const uids = (await sets.pods()).map(({ metadata }) => metadata.uid).sort();
    await kruise.foreignDefinition();
    await untilMode(manager, "blocked");
    await sets.patch({ spec: { patches: null } });
    await quiet();
    expect((await sets.pods()).map(({ metadata }) => metadata.uid).sort()).toEqual(uids);
  });

  it("DSP-102 off: it watches and writes nothing, and other controllers run", async () => {
    await sets.create({});
    await start("off");
    await quiet();
    expect(await sets.pods()).toEqual([]);
    const asked = (await stage.requests()).map(({ resource }) => resource);
    expect(asked.filter((resource) => ["daemonsets", "pods", "nodes"].includes(resource))).toEqual([]);
  });

  it("DSP-106 a companion where nobody owns the DaemonSets says so", async () => {
    await sets.create({});
    const manager = await start("companion");
    await untilMode(manager, "companion");
    expect(manager.log()).toContain("nobody controls the pods");
    await quiet();
    expect(await sets.pods()).toEqual([]);
  });
});
