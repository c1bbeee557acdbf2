import { afterAll, beforeAll, describe } from "vitest";
import { type Double, startDouble } from "../apiserver-double/index.ts";
import { defineStageTests } from "../control-plane/stages.testkit.ts";
import { type TestClient, testClient } from "../request.ts";
import { type MiniKubelet, startMiniKubelet } from "./index.ts";
import { defineWorkloadTests } from "./workloads.testkit.ts";

let double: Double;
let kubelet: MiniKubelet;
let client: TestClient;
beforeAll(async () => {
  double = await startDouble();
  kubelet = await startMiniKubelet(double);
  client = testClient(await double.kubeconfig());
});
afterAll(async () => {
  client.close();
  await kubelet.stop();
  await double.stop();
});

describe("CORE-447 stages of the mini-kubelet", () => defineStageTests(() => client));
describe("CORE-447 workloads of the mini-kubelet", () => defineWorkloadTests(() => client));
