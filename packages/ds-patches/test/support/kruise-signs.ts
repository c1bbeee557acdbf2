/** What an installed OpenKruise leaves in a cluster, without one. */
import { installCrds } from "@quartet/testing";
import { crdsOf, type Stage } from "@quartet/testing/stage";
import { dsPatchesModule } from "../../src/index.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const CONFIGURATION = "kruise-mutating-webhook-configuration";
const NAMESPACE = "kruise-system";
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const LEASE = "kruise-manager";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/daemonsets.apps.kruise.io";
const MERGE = { contentType: "application/merge-patch+json" };

/** Signs that end with the stage. */
export function kruiseSigns(stage: Stage) {
  const { client } = stage;
  const remove = (path: string) => async (): Promise<void> => void (await client.request("DELETE", path));
  const removeWebhook = remove(`${CONFIGURATIONS}/${CONFIGURATION}`);
  const removeLease = remove(`${LEASES}/${LEASE}`);
  const mark = (value: string | null) =>
    client.ok("PATCH", CRD, { metadata: { labels: { "app.kubernetes.io/part-of": value } } }, MERGE);
  const ownDefinition = () => installCrds(client, crdsOf([dsPatchesModule]));
  return {
    removeWebhook,
    removeLease,
    async webhook(): Promise<void> {
      await client.ok("POST", CONFIGURATIONS, {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "MutatingWebhookConfiguration",
        metadata: { name: CONFIGURATION },
        webhooks: [
          {
            name: "mdaemonset.kb.io",
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            failurePolicy: "Ignore",
            clientConfig: {
              service: {
                namespace: NAMESPACE,
                name: "kruise-webhook-service",
                path: "/mutate-apps-kruise-io-daemonset",
              },
              caBundle: "",
            },
            rules: [
              {
                apiGroups: ["apps.kruise.io"],
                apiVersions: ["v1beta1"],
                resources: ["daemonsets"],
                operations: ["CREATE", "UPDATE"],
              },
            ],
          },
        ],
      });
      stage.onClose(removeWebhook);
    },
    async lease({ ageMs, durationSeconds = 15 }: { ageMs: number; durationSeconds?: number }): Promise<void> {
      const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
      await client.request("POST", "/api/v1/namespaces", namespace);
      const time = new Date(Date.now() - ageMs).toISOString().replace("Z", "000Z");
      await client.ok("POST", LEASES, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: LEASE },
        spec: {
          holderIdentity: "kruise-0",
          leaseDurationSeconds: durationSeconds,
          acquireTime: time,
          renewTime: time,
        },
      });
      stage.onClose(removeLease);
    },
    /** The definition without the label that says that it is ours. */
    async foreignDefinition(): Promise<void> {
      await mark(null);
      stage.onClose(() => mark("quartet"));
    },
    ownDefinition: () => mark("quartet"),
    async removeDefinition(): Promise<void> {
      await client.ok("DELETE", CRD);
      while ((await client.request("GET", CRD)).code !== 404) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      stage.onClose(ownDefinition);
    },
    /** Reasons of the events in the stage's namespace. */
    async events(): Promise<string[]> {
      const path = `/apis/events.k8s.io/v1/namespaces/${stage.namespace}/events`;
      const { items } = await client.ok<{ items: { reason: string }[] }>("GET", path);
      return items.map(({ reason }) => reason);
    },
  };
}
