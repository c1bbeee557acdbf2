/** The chart on a real API server: what it accepts, and the life of a release. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  attachControlPlane,
  type ControlPlane,
  findAssets,
  startControlPlane,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { CHART, execute, helm, helmOk, only, type Rendered, render } from "./support/chart.ts";
import { runWith } from "./support/manager.ts";

const CRDS = join(import.meta.dirname, "../../crds");
const CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nacos.nacos.io";
const RESTRICTED = { "pod-security.kubernetes.io/enforce": "restricted" };
/** Plurals of the kinds in the chart that are not the kind with an s. */
const PLURALS: Readonly<Record<string, string>> = { NetworkPolicy: "networkpolicies" };

let folder: string;
let own: ControlPlane | undefined;
const endings: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quartet-chart-"));
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  await own?.stop();
  own = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Server-side apply with strict validation that stores nothing. */
function tryApply(client: TestClient, object: Rendered) {
  const { apiVersion, kind, metadata } = object;
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
  const query = "dryRun=All&fieldValidation=Strict&fieldManager=chart-test&force=true";
  return client.request<{ message?: string }>(
    "PATCH",
    `${root}${place}/${plural}/${metadata.name}?${query}`,
    object,
    { contentType: "application/apply-patch+yaml" },
  );
}

async function openShared() {
  const server = attachControlPlane(inject("controlPlane"));
  const client = testClient(await server.kubeconfig());
  const namespace = await testNamespace(client, RESTRICTED);
  endings.push(
    () => server.stop(),
    () => client.close(),
    () => namespace.empty(),
  );
  return { client, namespace: namespace.name };
}

it("CORE-539 renders only what the API server takes with strict validation", async () => {
  const { client, namespace } = await openShared();
  const objects = [
    ...(await render(['networkPolicy={"restrictEgress":true}'], namespace)),
    ...(await render([`watchNamespaces=["${namespace}"]`, 'metrics={"secure":true}'], namespace)),
  ];
  expect(objects.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining([
      "Deployment",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "CustomResourceDefinition",
    ]),
  );
  for (const object of objects) {
    const { code, body } = await tryApply(client, object);
    expect([200, 201], `${object.kind}: ${body.message}`).toContain(code);
  }
  const deployment = only(await render([], namespace), "Deployment");
  deployment.spec.template.spec.enableServiceLink = false;
  expect((await tryApply(client, deployment)).code).toBeGreaterThanOrEqual(400);
});

it("CORE-536 makes pods that pass pod security level restricted", async () => {
  const { client, namespace } = await openShared();
  const objects = await render([], namespace);
  await client.ok("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, only(objects, "ServiceAccount"));
  const { spec } = only(objects, "Deployment").spec.template;
  const metadata = { name: "quartet", namespace };
  const pod: Rendered = { apiVersion: "v1", kind: "Pod", metadata, spec };
  const good = await tryApply(client, pod);
  expect([200, 201], good.body.message).toContain(good.code);
  const bad = await tryApply(client, { ...pod, spec: { ...spec, securityContext: {} } });
  expect(bad).toMatchObject({ code: 403 });
  expect(bad.body.message).toContain("restricted");
});

/** A control plane of its own, since CRDs and roles are cluster-wide. */
async function openOwn() {
  own = await startControlPlane({
    controllerManager: false,
    scheduler: false,
    kwok: false,
    auditPolicy: false,
  });
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, await own.kubeconfig(), { mode: 0o600 });
  const client = testClient(await own.kubeconfig());
  endings.push(() => client.close());
  for (const name of ["ops", "team-a"]) {
    await client.ok("POST", "/api/v1/namespaces", { metadata: { name } });
  }
  const env = {
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: folder,
    HELM_CONFIG_HOME: folder,
    HELM_DATA_HOME: folder,
  };
  const release = (...args: string[]): Promise<string> => helmOk([...args, "--namespace", "ops"], env);
  return { controlPlane: own, client, kubeconfig, env, release };
}

/** The chart as an earlier release had it: with another schema of its CRD. */
function previousChart(): string {
  const chart = join(folder, "previous");
  cpSync(CHART, chart, { recursive: true });
  const edit = (file: string, from: string, to: string): void => {
    const path = join(chart, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };
  edit("Chart.yaml", "version: 0.1.0", "version: 0.0.9");
  edit("templates/crds/nacos.io_nacos.yaml", "Nacos server image. Needed.", "Image.");
  return chart;
}

it("core A19 CORE-535 upgrades CRDs with the release, rolls back, and leaves CRDs and resources on uninstall", async () => {
  const { client, kubeconfig, env, release } = await openOwn();
  const imageOf = async (): Promise<string> => {
    const { spec } = await client.ok<Rendered>("GET", CRD_PATH);
    return spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.image.description;
  };
  await release("install", "quartet", previousChart());
  expect(await imageOf()).toBe("Image.");
  const nacos = "/apis/nacos.io/v1alpha1/namespaces/ops/nacos";
  await expect
    .poll(async () => (await client.request("GET", nacos)).code, { timeout: 60_000, interval: 200 })
    .toBe(200);
  await client.ok("POST", nacos, {
    apiVersion: "nacos.io/v1alpha1",
    kind: "Nacos",
    metadata: { name: "mine" },
    spec: { image: "nacos/nacos-server:v2.4.3" },
  });
  const created = await client.ok<Rendered>("GET", `${nacos}/mine`);

  const typo = await helm(
    ["upgrade", "quartet", CHART, "--namespace", "ops", "--set", "controllers.nacos.enabeld=true"],
    env,
  );
  expect(typo.code).not.toBe(0);
  expect(typo.stderr).toContain("enabeld");

  await release("upgrade", "quartet", CHART);
  expect(await imageOf()).toBe("Nacos server image. Needed.");
  await release("rollback", "quartet", "1");
  expect(await imageOf()).toBe("Image.");
  await release("upgrade", "quartet", CHART);
  await release("uninstall", "quartet");

  const deployment = await client.request("GET", "/apis/apps/v1/namespaces/ops/deployments/quartet");
  expect(deployment.code).toBe(404);
  expect(await imageOf()).toBe("Nacos server image. Needed.");
  const kept = await client.ok<Rendered>("GET", `${nacos}/mine`);
  expect(kept.metadata).toMatchObject({ uid: created.metadata.uid });

  // Those who keep CRDs apart from the chart apply the same files.
  const { programs } = findAssets();
  const applied = await execute(programs.kubectl!, [
    `--kubeconfig=${kubeconfig}`,
    "apply",
    "--server-side",
    `--filename=${CRDS}`,
  ]);
  expect(applied.code, applied.stderr).toBe(0);
});

/** A chart that holds the CRD as a template, as that of a former operator may. */
function formerChart(): string {
  const chart = join(folder, "former");
  mkdirSync(join(chart, "templates"), { recursive: true });
  writeFileSync(join(chart, "Chart.yaml"), "apiVersion: v2\nname: nacos-operator\nversion: 1.0.0\n");
  const crd = readFileSync(join(CRDS, "nacos.io_nacos.yaml"), "utf8");
  writeFileSync(join(chart, "templates", "crd.yaml"), crd.replace("Nacos server image. Needed.", "Image."));
  return chart;
}

it("CORE-535 NACOS-405 takes over a CRD that was applied by hand or belongs to a former release, and its resources stay", async () => {
  const { client, kubeconfig, env, release } = await openOwn();
  const nacos = "/apis/nacos.io/v1alpha1/namespaces/team-a/nacos";
  const crd = async (): Promise<Rendered> => client.ok<Rendered>("GET", CRD_PATH);
  const createMine = async (): Promise<string | undefined> => {
    await expect
      .poll(async () => (await client.request("GET", nacos)).code, { timeout: 60_000, interval: 200 })
      .toBe(200);
    const { metadata } = await client.ok<Rendered>("POST", nacos, {
      apiVersion: "nacos.io/v1alpha1",
      kind: "Nacos",
      metadata: { name: "mine" },
      spec: { image: "nacos/nacos-server:v2.4.3" },
    });
    return metadata.uid;
  };
  const mine = async (): Promise<string | undefined> =>
    (await client.ok<Rendered>("GET", `${nacos}/mine`)).metadata.uid;

  // Applied by hand, as the first step of a take-over says.
  const { programs } = findAssets();
  const applied = await execute(programs.kubectl!, [
    `--kubeconfig=${kubeconfig}`,
    "apply",
    "--server-side",
    `--filename=${CRDS}`,
  ]);
  expect(applied.code, applied.stderr).toBe(0);
  const uid = await createMine();
  const refused = await helm(["install", "quartet", CHART, "--namespace", "ops"], env);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("invalid ownership metadata");
  await release("install", "quartet", CHART, "--take-ownership");
  expect((await crd()).metadata.annotations).toMatchObject({
    "helm.sh/resource-policy": "keep",
    "meta.helm.sh/release-name": "quartet",
  });
  await release("upgrade", "quartet", CHART, "--set", "log.level=debug");
  await release("uninstall", "quartet");
  expect(await mine()).toBe(uid);

  // Again over what the uninstalled release has left.
  await release("install", "quartet", CHART);
  await release("uninstall", "quartet");
  expect(await mine()).toBe(uid);
});

it("CORE-535 takes over the CRD of a former release, which must be forgotten instead of uninstalled", async () => {
  const { client, release, env } = await openOwn();
  const nacos = "/apis/nacos.io/v1alpha1/namespaces/team-a/nacos";
  await release("install", "former", formerChart());
  await expect
    .poll(async () => (await client.request("GET", nacos)).code, { timeout: 60_000, interval: 200 })
    .toBe(200);
  const { metadata } = await client.ok<Rendered>("POST", nacos, {
    apiVersion: "nacos.io/v1alpha1",
    kind: "Nacos",
    metadata: { name: "mine" },
    spec: { image: "nacos/nacos-server:v2.4.3" },
  });
  await release("install", "quartet", CHART, "--take-ownership");
  const { spec } = await client.ok<Rendered>("GET", CRD_PATH);
  expect(spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.image.description).toContain(
    "Nacos server image",
  );
  // The guide: forget the former release; its uninstallation would delete the CRD, and with it every resource.
  await client.ok("DELETE", "/api/v1/namespaces/ops/secrets?labelSelector=owner%3Dhelm%2Cname%3Dformer");
  const left = await helmOk(["list", "--namespace", "ops", "--short"], env);
  expect(left.trim()).toBe("quartet");
  await release("upgrade", "quartet", CHART);
  await release("rollback", "quartet", "1");
  await release("uninstall", "quartet");
  expect((await client.ok<Rendered>("GET", `${nacos}/mine`)).metadata.uid).toBe(metadata.uid);
});

it.each([
  ["cluster", []],
  ["namespaced", ['watchNamespaces=["team-a"]']],
])(
  "CORE-397 CORE-534 grants the pod's ServiceAccount all that the program asks for: %s",
  async (_, values) => {
    const { controlPlane, release } = await openOwn();
    const objects = await render(values);
    const sets = values.flatMap((value) => ["--set-json", value]);
    await release("install", "quartet", CHART, ...sets);
    const kubeconfig = (name: string): Promise<string> =>
      controlPlane.kubeconfig({
        user: `system:serviceaccount:ops:${name}`,
        groups: ["system:authenticated"],
      });
    const args = ["--check", "--leader-election-namespace=ops"];
    const granted = await runWith(objects, args, await kubeconfig("quartet"));
    expect(granted.code, granted.stderr).toBe(0);
    expect(granted.stdout).toContain("rights are fine");
    expect((await runWith(objects, args, await kubeconfig("other"))).code).toBe(3);
  },
);
