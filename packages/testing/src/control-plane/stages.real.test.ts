import { afterAll, beforeAll, inject } from "vitest";
import { type TestClient, testClient } from "../request.ts";
import { attachControlPlane } from "./attach.ts";
import { defineStageTests } from "./stages.testkit.ts";

let client: TestClient;
beforeAll(async () => {
  client = testClient(await attachControlPlane(inject("controlPlane")).kubeconfig());
});
afterAll(() => client.close());

defineStageTests(() => client);
