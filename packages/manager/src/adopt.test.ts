import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dsPatchesModule } from "@quartet/ds-patches";
import { type Double, startDouble, type TestClient, testClient } from "@quartet/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli } from "./cli.ts";

const NAME = "daemonsets.apps.kruise.io";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOREIGN = { namespace: "kruise-system", name: "kruise-webhook-service", path: "/convert", port: 443 };

interface Crd {
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    versions: {
      name: string;
      schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } };
    }[];
    conversion: { webhook: { clientConfig: { service: object; caBundle?: string } } };
  };
  status: { storedVersions: string[] };
}

let server: Double;
let client: TestClient;
let folder: string;
beforeEach(async () => {
  server = await startDouble();
  client = testClient(await server.kubeconfig());
  folder = await mkdtemp(join(tmpdir(), "quartet-adopt-"));
  await writeFile(join(folder, "kubeconfig"), await server.kubeconfig(), { mode: 0o600 });
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  });
  await client.ok("POST", CRDS, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: NAME, annotations: { keep: "1" } },
    spec: {
      group: "apps.kruise.io",
      scope: "Namespaced",
      names: { kind: "DaemonSet", listKind: "DaemonSetList", plural: "daemonsets", singular: "daemonset" },
      versions: [version("v1alpha1", false), version("v1beta1", true)],
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: { service: FOREIGN, caBundle: Buffer.from("CA").toString("base64") },
        },
      },
    },
  });
});
afterEach(async () => {
  client.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

async function adopt(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const outcome = { stdout: "", stderr: "" };
  const code = await runCli({
    args: [
      "adopt-crd",
      ...args,
      `--kubeconfig=${join(folder, "kubeconfig")}`,
      "--leader-election-namespace=ops",
    ],
    env: {},
    modules: [dsPatchesModule],
    stdout: { write: (text: string) => (outcome.stdout += text) },
    stderr: { write: (text: string) => (outcome.stderr += text) },
    onSignal: () => () => {},
    exit: () => {},
  });
  return { code, ...outcome };
}

it("DSP-113 DSP-122 takes over marker, schema and conversion, and keeps what is stored", async () => {
  const { code, stdout } = await adopt(NAME);
  expect([code, stdout]).toEqual([0, expect.stringContaining("is ours now")]);
  const { metadata, spec, status } = await client.ok<Crd>("GET", `${CRDS}/${NAME}`);
  expect(metadata.labels?.["app.kubernetes.io/part-of"]).toBe("quartet");
  expect(metadata.annotations).toMatchObject({ keep: "1", "quartet.io/owner": "ops/quartet" });
  const [current] = spec.versions.filter(({ name }) => name === "v1beta1");
  expect(current?.schema.openAPIV3Schema.properties.spec.properties).toHaveProperty("patches");
  expect(spec.conversion.webhook.clientConfig).toEqual({
    service: { namespace: "ops", name: "quartet-webhook", path: "/convert", port: 443 },
  });
  expect(status.storedVersions).toEqual(["v1beta1"]);
});

it("DSP-113 refuses while OpenKruise serves the kind, and for any other definition", async () => {
  const path = "/mutate-apps-kruise-io-daemonset";
  await client.ok("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "kruise-mutating-webhook-configuration" },
    webhooks: [
      {
        name: "m.kb.io",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        clientConfig: { service: { ...FOREIGN, path } },
      },
    ],
  });
  const refused = await adopt(NAME);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("OpenKruise serves the kind (MutatingWebhookConfiguration");
  const { metadata } = await client.ok<Crd>("GET", `${CRDS}/${NAME}`);
  expect(metadata.labels?.["app.kubernetes.io/part-of"]).toBeUndefined();
  expect((await adopt("clonesets.apps.kruise.io")).code).toBe(2);
});
