/** What servers cost in requests. */
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@quartet/testing/stage";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GROUND_MS, openTarsGround, type TarsGround } from "./support/ground.ts";
import { labelNodes, openScene, type Scene } from "./support/scene.ts";

const WEB = "demo-webserver";
let ground: TarsGround;
let scene: Scene;

beforeAll(async () => {
  ground = await openTarsGround();
  scene = await openScene(await ground.openPlace(0));
  await labelNodes(scene);
}, GROUND_MS);
afterAll(async () => {
  await scene.close();
  await ground.close();
}, GROUND_MS);

const spec = (image: string, replicas: number) => ({
  app: "Demo",
  server: "WebServer",
  subType: "normal",
  normal: { ports: [{ name: "http", port: 8080 }] },
  k8s: { replicas },
  release: { id: image, image: `r.example/web:${image}` },
});
async function ready(image: string, replicas: number): Promise<void> {
  await eventually(async () => {
    const { status } = await scene.get("TServer", WEB);
    expect(status).toMatchObject({ readyReplicas: replicas });
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    const { pods } = (await scene.get("TEndpoint", WEB)).status;
    expect(pods).toHaveLength(replicas);
    for (const pod of pods) expect(pod).toMatchObject({ id: image, presentState: "Active" });
  });
  await sleep(2_000);
}

it("TARS-R-021 TARS-R-042 TARS-R-076 a server costs at most eight requests until it is ready, another image five, rest nothing", {
  timeout: GROUND_MS,
}, async () => {
  await sleep(2_000);
  const start = Date.now();
  await scene.create("TServer", WEB, { spec: spec("v1", 1) });
  await ready("v1", 1);
  const creation = await ground.cost(start);
  expect(creation.length, creation.join(", ")).toBeLessThanOrEqual(8);
  const change = Date.now();
  await scene.patch("TServer", WEB, { spec: spec("v2", 1) });
  await ready("v2", 1);
  const image = await ground.cost(change);
  expect(image.length, image.join(", ")).toBeLessThanOrEqual(5);
  const rest = Date.now();
  await sleep(3_000);
  expect(await ground.cost(rest)).toEqual([]);
});
