/** Objects of another namespace that say they are a DaemonSet's: whoever may write them gets nothing by it. */
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dsPatchesModule } from "../src/index.ts";
import { createNodes, type DaemonNodes, type DaemonSets, daemonSetsOf } from "./support/daemon-sets.ts";

let stage: Stage;
let nodes: DaemonNodes;
let sets: DaemonSets;
let strangers: string;
beforeEach(async () => {
  stage = await openStage({ modules: [dsPatchesModule] });
  nodes = await createNodes(stage);
  sets = daemonSetsOf(stage, nodes);
  strangers = `${stage.namespace}-strangers`;
  await stage.client.ok("POST", "/api/v1/namespaces", { metadata: { name: strangers } });
  stage.onClose(() => stage.client.request("DELETE", `/api/v1/namespaces/${strangers}`));
});
afterEach(() => stage.close());

/** Creates an object there that its finalizer keeps, whatever the garbage collector makes of its owner. */
async function plant(group: string, resource: string, object: { metadata: object }): Promise<void> {
  const metadata = { ...object.metadata, name: "planted", finalizers: ["example.com/held"] };
  const path = `${group}/namespaces/${strangers}/${resource}`;
  await stage.client.ok("POST", path, { ...object, metadata });
  const contentType = "application/merge-patch+json";
  const body = { metadata: { finalizers: null } };
  stage.onClose(() => stage.client.request("PATCH", `${path}/planted`, body, { contentType }));
}

describe("objects of another namespace with the DaemonSet's owner reference", () => {
  it("ds-patches DSP-704 are none of its own: a node gets its pod, and no rollback brings their template", async () => {
    await nodes.add("n1");
    await stage.start({ namespaces: [stage.namespace, strangers] });
    await sets.create({});
    const { metadata } = await sets.settled(1);
    const [pod] = await sets.pods();
    const owner = { apiVersion: "apps.kruise.io/v1beta1", kind: "DaemonSet", controller: true };
    const ownerReferences = [{ ...owner, name: metadata.name, uid: metadata.uid }];
    const labels = pod!.metadata.labels;
    const pinned = { key: "metadata.name", operator: "In", values: [`${stage.namespace}-n2`] };
    const required = { nodeSelectorTerms: [{ matchFields: [pinned] }] };
    await plant("/api/v1", "pods", {
      metadata: { labels, ownerReferences },
      spec: {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
        containers: [{ name: "main", image: "planted:1" }],
      },
    } as { metadata: object });
    const template = { $patch: "replace", spec: { containers: [{ name: "main", image: "planted:1" }] } };
    await plant("/apis/apps/v1", "controllerrevisions", {
      metadata: { labels: { ...labels, "controller-revision-hash": "planted" }, ownerReferences },
      data: { spec: { template } },
      revision: 99,
    } as { metadata: object });
    await nodes.add("n2");
    await sets.settled(2);
    await sets.patch({ metadata: { annotations: { "daemonset.kruise.io/rollback-to": "99" } } });
    await eventually(async () => {
      const reasons = (await sets.events()).map(({ reason }) => reason);
      expect(reasons).toContain("RollbackRevisionNotFound");
    });
    await sets.settled(2);
    for (const { spec } of await sets.pods()) expect(spec.containers[0]?.image).toBe("agent:1");
  });
});
