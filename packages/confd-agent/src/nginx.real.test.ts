/** The samples on a real control plane: their objects are applied as they are, and the agent runs beside a real nginx. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { attachControlPlane, type ControlPlane, portAllocator } from "@quartet/testing";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { becomes, eventually } from "./agent.testkit.ts";
import { type Cluster, createCluster } from "./kubernetes.testkit.ts";

const NGINX_PATH = `${process.env.PATH}:/usr/sbin`;
/** Where the API server has the kinds of the samples. */
const PLACES: Readonly<Record<string, string>> = {
  ConfigMap: "/api/v1/namespaces/NS/configmaps",
  ServiceAccount: "/api/v1/namespaces/NS/serviceaccounts",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings",
  Deployment: "/apis/apps/v1/namespaces/NS/deployments",
};

interface SampleObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

let plane: ControlPlane;
let cluster: Cluster;
let nginx: ChildProcess | undefined;
const ports = portAllocator();
beforeEach(async () => {
  plane = attachControlPlane(inject("controlPlane"));
  cluster = await createCluster(plane);
});
afterEach(async () => {
  if (nginx?.exitCode === null) {
    const gone = new Promise((resolve) => nginx?.once("exit", resolve));
    nginx.kill("SIGTERM");
    await gone;
  }
  ports.releaseAll();
  await cluster.close();
  await plane.stop();
});

/** Applies a sample's objects, and writes the files that its ConfigMap gives the agent, with other paths. */
async function applySample(file: string, replace: (text: string) => string): Promise<void> {
  const { admin, namespace, scene } = cluster;
  const text = readFileSync(new URL(`../../../samples/confd/${file}`, import.meta.url), "utf8");
  const objects = parseAllDocuments(text).map((document) => document.toJS() as SampleObject);
  for (const object of objects) {
    const path = `${PLACES[object.kind]!.replace("NS", namespace)}/${object.metadata.name}`;
    const contentType = "application/apply-patch+yaml";
    await admin.ok("PATCH", `${path}?fieldManager=sample&fieldValidation=Strict`, object, { contentType });
  }
  const files = objects.find(({ metadata }) => metadata.name.endsWith("-confd"))?.data ?? {};
  for (const [name, content] of Object.entries(files)) {
    scene.write(`${name.endsWith(".toml") ? "conf.d" : "templates"}/${name}`, replace(content));
  }
}

it("CONFD-K8S-16 CONFD-K8S-13 CONFD-CMD-2 CONFD-CMD-3 nginx serves the edited configuration of the sample, and keeps the old one when the check fails", async () => {
  const { scene, namespace } = cluster;
  const port = await ports.allocate();
  await applySample("web.yaml", (text) =>
    text.replaceAll("/config/", `${scene.folder}/`).replace("listen 8080", `listen 127.0.0.1:${port}`),
  );
  const environment = { PATH: NGINX_PATH };
  // With the rights of the sample's Role alone.
  const args = await cluster.args(`system:serviceaccount:${namespace}:web`);
  expect((await scene.run([...args, "--onetime", "--sync-only"], environment)).code).toBe(0);
  nginx = spawn("nginx", ["-c", scene.path("nginx.conf"), "-g", "daemon off;"], {
    stdio: "ignore",
    env: environment,
  });
  const agent = scene.start([...args, "--watch"], environment);
  const served = (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } }).then(
      (response) => response.text(),
      () => "",
    );
  await eventually(served, (text) => text === "hello\n");
  const pid = scene.read("nginx.pid");
  await cluster.patch("configmaps", "web", { data: { greeting: "good day" } });
  await eventually(served, (text) => text === "good day\n");
  await cluster.patch("configmaps", "web", { data: { greeting: 'broken"; no such directive; "' } });
  await eventually(
    agent.log,
    (log) => log.includes("Config check failed: exit status 1") && log.includes("nginx"),
  );
  expect(await served()).toBe("good day\n");
  expect(scene.read("nginx.conf")).toContain("good day");
  await cluster.patch("configmaps", "web", { data: { greeting: "well again" } });
  await eventually(served, (text) => text === "well again\n");
  expect(scene.read("nginx.pid")).toBe(pid);
  expect((await agent.stop()).code).toBe(0);
});

it("CONFD-K8S-1 CONFD-K8S-9 a file follows the merged configuration of a Nacos cluster, as the sample says", async () => {
  const { scene } = cluster;
  await applySample("nacos.yaml", (text) => text.replaceAll("/config/", `${scene.folder}/`));
  const data = { "application.properties": "a=1\nb=2" };
  await cluster.apply("configmaps", "my-nacos-final-config", { data });
  const agent = await cluster.watch();
  await becomes(scene, "nacos.conf", "# application.properties\na=1\nb=2\n");
  await cluster.patch("configmaps", "my-nacos-final-config", { data: { "application.properties": "a=3" } });
  await becomes(scene, "nacos.conf", "# application.properties\na=3\n");
  expect((await agent.stop()).code).toBe(0);
});
