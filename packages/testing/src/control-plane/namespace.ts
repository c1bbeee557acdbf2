/** A namespace per test, so that tests can share a cluster. */
import { randomBytes } from "node:crypto";
import type { TestClient } from "../request.ts";
import type { CustomResourceDefinition } from "./crds.ts";

/** Label of namespaces, and of cluster-scoped objects that a test creates and removes. */
export const TEST_LABEL = "quartet.io/test";

export interface TestNamespace {
  /** `t-<random>`. */
  readonly name: string;
  /**
   * Deletes what controllers and tests of other namespaces would see, of these custom kinds too. The namespace itself
   * stays until the control plane ends: to delete one costs the API server 200 requests and more, to empty it 16.
   */
  empty(definitions?: readonly CustomResourceDefinition[]): Promise<void>;
}

/** Workloads before what they own, so that nothing is made anew. */
const CONTENTS = [
  ["apis/batch/v1", "jobs"],
  ["apis/apps/v1", "deployments"],
  ["apis/apps/v1", "statefulsets"],
  ["apis/apps/v1", "daemonsets"],
  ["apis/apps/v1", "replicasets"],
  ["apis/apps/v1", "controllerrevisions"],
  ["api/v1", "pods"],
  ["api/v1", "services"],
  ["api/v1", "persistentvolumeclaims"],
  ["api/v1", "configmaps"],
  ["api/v1", "secrets"],
  ["api/v1", "resourcequotas"],
  ["apis/policy/v1", "poddisruptionbudgets"],
  ["apis/networking.k8s.io/v1", "ingresses"],
] as const;

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
  const deleteAll = (api: string, resource: string): Promise<unknown> =>
    // No kubelet has to stop anything, so pods go at once.
    client.request("DELETE", `/${api}/namespaces/${name}/${resource}?gracePeriodSeconds=0`);
  return {
    name,
    async empty(definitions = []) {
      // Of what is gone, the garbage collector has nothing left to delete one by one.
      for (const [api, resource] of CONTENTS) await deleteAll(api, resource);
      for (const { spec } of definitions) {
        const served = spec.versions.find((version) => version.served);
        if (spec.scope !== "Namespaced" || served === undefined) continue;
        await deleteAll(`apis/${spec.group}/${served.name}`, spec.names.plural);
      }
    },
  };
}
