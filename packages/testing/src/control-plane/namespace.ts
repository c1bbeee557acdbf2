/** A namespace per test, so that tests can share a cluster. */
import { randomBytes } from "node:crypto";
import type { TestClient } from "../request.ts";

/** Label of namespaces, and of cluster-scoped objects that a test creates and removes. */
export const TEST_LABEL = "quartet.io/test";

export interface TestNamespace {
  /** `t-<random>`. */
  readonly name: string;
  /** Deletes the namespace; its contents follow in the background. */
  remove(): Promise<void>;
}

/** Creates a namespace of a name that no other test has. */
export async function testNamespace(
  client: TestClient,
  labels: Readonly<Record<string, string>> = {},
): Promise<TestNamespace> {
  const name = `t-${randomBytes(5).toString("hex")}`;
  await client.ok("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { [TEST_LABEL]: name, ...labels } },
  });
  return {
    name,
    async remove() {
      await client.request("DELETE", `/api/v1/namespaces/${name}`);
    },
  };
}
