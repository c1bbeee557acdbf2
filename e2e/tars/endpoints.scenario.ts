/** What the registry reads of pods, what is recorded of their end, and what all of it costs (acceptance S-19, S-20). */
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { GROUND_MS, openTarsGround, type TarsGround } from "./support/ground.ts";
import { APPS, ECHO, echoSpec, openScene, type Scene } from "./support/scene.ts";

let ground: TarsGround;
let scene: Scene;
let number = 0;
beforeAll(async () => {
  ground = await openTarsGround();
}, GROUND_MS);
afterAll(() => ground.close(), GROUND_MS);
beforeEach(async () => {
  scene = await openScene(await ground.openPlace(number++));
});
afterEach(() => scene.close());

/** Nobody puts these pods on a node, so that their conditions are those of the scenario. */
const POD_SPEC = { schedulerName: "nobody", containers: [{ name: "c", image: "r.example/c:1" }] };
const labels = { "tars.io/ServerApp": "Demo", "tars.io/ServerName": "EchoServer", "tars.io/ServerID": "v1" };
const createPod = (name: string) => scene.create("Pod", name, { metadata: { labels }, spec: POD_SPEC }, "v1");
async function setConditions(name: string, conditions: Json[]): Promise<void> {
  const path = `${await scene.place.pathOf({ apiVersion: "v1", kind: "Pod" }, name)}/status`;
  const body = { status: { podIP: "10.0.0.1", conditions } };
  await scene.place.client.ok("PATCH", path, body, { contentType: "application/merge-patch+json" });
}
const condition = (type: string, status: string, reason = "", message = ""): Json => ({
  type,
  status,
  reason,
  message,
});
const REACHED = ["PodScheduled", "Initialized", "ContainersReady"].map((type) => condition(type, "True"));
const pods = async () => (await scene.get("TEndpoint", ECHO)).status.pods;

it("TARS-S-19 TARS-R-073 TARS-R-075 TARS-R-080 a pod is activating, active, and gone with one record", async () => {
  await scene.create("TServer", ECHO, { spec: echoSpec() });
  await createPod("one");
  await setConditions("one", [
    ...REACHED,
    condition("tars.io/active", "False", "Active/Activating/12", "wait"),
  ]);
  await eventually(async () => {
    const [pod] = await pods();
    expect(pod).toMatchObject({ name: "one", id: "v1", podIP: "10.0.0.1", settingState: "Active" });
    expect(pod).toMatchObject({ presentState: "Activating", pid: "12", presentMessage: "wait" });
  });
  const active = condition("tars.io/active", "True", "Active/Active/12");
  await setConditions("one", [...REACHED, active, condition("Ready", "True")]);
  await eventually(async () => {
    expect(await pods()).toMatchObject([{ settingState: "Active", presentState: "Active", pid: "12" }]);
    const { status } = await scene.get("TServer", ECHO);
    expect(status).toMatchObject({ currentReplicas: 1, readyReplicas: 1 });
    expect(status.selector).toBe("tars.io/ServerApp=Demo,tars.io/ServerName=EchoServer");
  });
  const { uid } = (await scene.get("Pod", "one", "v1")).metadata;
  await scene.delete("Pod", "one", "v1");
  await eventually(async () => {
    expect((await scene.get("TExitedRecord", ECHO)).pods).toMatchObject([
      { uid, name: "one", id: "v1", podIP: "10.0.0.1" },
    ]);
    expect(await pods()).toEqual([]);
  });
});

it("TARS-R-074 TARS-R-072 what a pod waits for is its state, and one that ends is no longer routed to", async () => {
  await scene.create("TServer", ECHO, { spec: echoSpec() });
  await scene.create(
    "Pod",
    "two",
    {
      metadata: { labels, finalizers: ["test.io/hold"] },
      spec: POD_SPEC,
    },
    "v1",
  );
  await setConditions("two", [
    REACHED[0]!,
    condition("Initialized", "False", "ContainersNotInitialized", "wait"),
  ]);
  await eventually(async () =>
    expect(await pods()).toMatchObject([
      { presentState: "ContainersNotInitialized", presentMessage: "wait" },
    ]),
  );
  await scene.delete("Pod", "two", "v1");
  await eventually(async () =>
    expect(await pods()).toMatchObject([
      { presentState: "Terminating", presentMessage: "pod/two is terminating" },
    ]),
  );
  await scene.patch("Pod", "two", { metadata: { finalizers: null } }, "v1");
  await eventually(async () => expect(await pods()).toEqual([]));
});

it("TARS-R-021 TARS-R-042 TARS-R-022 a server costs seven requests, at rest and after a restart nothing is written", async () => {
  const start = Date.now();
  await scene.create("TServer", ECHO, { spec: echoSpec() });
  await eventually(async () => {
    expect(await scene.find("StatefulSet", ECHO, APPS)).toBeDefined();
    expect(await pods()).toEqual([]);
    expect((await scene.get("TServer", ECHO)).status.observedGeneration).toBe(1);
  });
  await eventually(async () =>
    expect((await ground.cost(start, scene.namespace)).sort()).toEqual([
      "create services",
      "create statefulsets",
      "create tendpoints",
      "create texitedrecords",
      "patch tendpoints/status",
      "patch tservers/status",
      "patch ttrees",
    ]),
  );
  const rest = Date.now();
  await sleep(3_000);
  expect(await ground.cost(rest, scene.namespace)).toEqual([]);
  const restart = Date.now();
  await ground.restart();
  await sleep(3_000);
  const written = (await ground.cost(restart, scene.namespace)).filter((request) =>
    /^(create|update|patch|delete) t/.test(request),
  );
  expect(written).toEqual([]);
});
