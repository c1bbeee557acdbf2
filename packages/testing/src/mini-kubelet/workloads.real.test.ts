import { afterAll, beforeAll, describe, inject } from "vitest";
import { attachControlPlane } from "../control-plane/attach.ts";
import { type TestClient, testClient } from "../request.ts";
import { defineWorkloadTests } from "./workloads.testkit.ts";

let client: TestClient;
beforeAll(async () => {
  client = testClient(await attachControlPlane(inject("controlPlane")).kubeconfig());
});
afterAll(() => client.close());

describe("CORE-447 workloads of the real controllers", () => defineWorkloadTests(() => client));
