import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { parse, stringify } from "yaml";
import { type TestClient, testClient } from "../request.ts";
import { eventually } from "../stage/eventually.ts";
import { attachControlPlane, type ControlPlane } from "./attach.ts";
import { installCrds } from "./crds.ts";
import { existingCluster, wantsExistingCluster } from "./existing-cluster.ts";
import { testNamespace } from "./namespace.ts";
import { addNode, OWN_NODE_TAINT, removeNode } from "./nodes.ts";
import { pinnedVersions } from "./programs.ts";

let controlPlane: ControlPlane;
let admin: TestClient;
beforeAll(async () => {
  controlPlane = attachControlPlane(inject("controlPlane"));
  admin = testClient(await controlPlane.kubeconfig());
});
afterAll(() => admin.close());

const random = (): string => randomBytes(4).toString("hex");

describe("shared control plane", () => {
  it("CORE-443 is ready, with the namespace default and its ServiceAccount", async () => {
    expect(await admin.ok("GET", "/readyz")).toBe("ok");
    await admin.ok("GET", "/api/v1/namespaces/default");
    await admin.ok("GET", "/api/v1/namespaces/default/serviceaccounts/default");
  });

  it("CORE-452 says its version", async () => {
    const { gitVersion } = await admin.ok<{ gitVersion: string }>("GET", "/version");
    expect(controlPlane.version).toBe(gitVersion);
    expect(gitVersion).toBe(pinnedVersions().kubernetes);
  });

  it("logs in whoever a kubeconfig is for, with the rights that RBAC gives", async () => {
    const client = testClient(await controlPlane.kubeconfig({ user: "jane", groups: ["devs"] }));
    const review = await client.ok<{ status: { userInfo: object } }>(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    );
    expect(review.status.userInfo).toMatchObject({
      username: "jane",
      groups: ["devs", "system:authenticated"],
    });
    expect((await client.request("GET", "/api/v1/secrets")).code).toBe(403);
    client.close();
  });

  it("CORE-445 gives each test a namespace of its own", async () => {
    const [one, two] = await Promise.all([testNamespace(admin), testNamespace(admin, { own: "label" })]);
    expect(one.name).toMatch(/^t-[0-9a-f]+$/);
    expect(one.name).not.toBe(two.name);
    const read = await admin.ok<{ metadata: { labels: object } }>("GET", `/api/v1/namespaces/${two.name}`);
    expect(read.metadata.labels).toMatchObject({ "quartet.io/test": two.name, own: "label" });
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
    for (const { name } of [one, two])
      await admin.ok("POST", `/api/v1/namespaces/${name}/configmaps`, configMap);
    await one.empty();
    const found = async ({ name }: typeof one): Promise<number> =>
      (await admin.request("GET", `/api/v1/namespaces/${name}/configmaps/c`)).code;
    expect([await found(one), await found(two)]).toEqual([404, 200]);
    await two.empty();
  });

  it("CORE-445 puts no pod on a node that another test has added, while there is another place", async () => {
    const nodes = Array.from({ length: 4 }, () => `own-${random()}`);
    const namespace = await testNamespace(admin);
    try {
      await Promise.all(nodes.map((node) => addNode(admin, node, { taints: [OWN_NODE_TAINT] })));
      const pods = `/api/v1/namespaces/${namespace.name}/pods`;
      await eventually(async () => {
        const account = `/api/v1/namespaces/${namespace.name}/serviceaccounts/default`;
        expect((await admin.request("GET", account)).code).toBe(200);
      });
      for (let n = 0; n < 12; n++) {
        const spec = { containers: [{ name: "c", image: "i" }] };
        await admin.ok("POST", pods, { apiVersion: "v1", kind: "Pod", metadata: { name: `p${n}` }, spec });
      }
      await eventually(async () => {
        const { items } = await admin.ok<{ items: { spec: { nodeName?: string } }[] }>("GET", pods);
        expect(items.map(({ spec }) => spec.nodeName)).toEqual(Array.from({ length: 12 }, () => "node-0"));
      });
    } finally {
      await namespace.empty();
      for (const node of nodes) await removeNode(admin, node);
    }
  });

  it("CORE-443 installs CRDs and resolves when their objects can be created", async () => {
    const group = `g${random()}.example.com`;
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Cluster",
        names: { plural: "things", singular: "thing", kind: "Thing" },
        versions: ["v1", "v2"].map((name) => ({
          name,
          served: true,
          storage: name === "v1",
          schema: { openAPIV3Schema: { type: "object" } },
        })),
      },
    };
    await installCrds(admin, [definition]);
    for (const version of ["v1", "v2"]) {
      const body = { apiVersion: `${group}/${version}`, kind: "Thing", metadata: { name: version } };
      await admin.ok("POST", `/apis/${group}/${version}/things`, body);
    }
    await admin.ok("DELETE", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`);
  });
});

describe("audit log", () => {
  it("CORE-451 shows each request of a user exactly once, as soon as it is answered", async () => {
    const user = `auditor-${random()}`;
    const client = testClient(await controlPlane.kubeconfig({ user, groups: ["system:masters"] }));
    const namespace = await testNamespace(admin);
    const configMaps = `/api/v1/namespaces/${namespace.name}/configmaps`;
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
    const headers = { "user-agent": "quartet-test/1" };
    const since = Date.now();
    await client.ok("POST", configMaps, configMap, { headers });
    await client.ok("GET", `${configMaps}/c`);
    const apply = { contentType: "application/apply-patch+yaml" };
    await client.ok("PATCH", `${configMaps}/c?fieldManager=m&force=true`, configMap, apply);
    await client.request("DELETE", `${configMaps}/absent?dryRun=All`);
    const watch = new AbortController();
    const lines = client.stream(`${configMaps}?watch=true&resourceVersion=0`, watch.signal);
    await lines.next();

    const records = await controlPlane.requests({ user });
    expect(records.map(({ verb, name, code }) => `${verb} ${name} ${code}`)).toEqual([
      "create c 201",
      "get c 200",
      "apply c 200",
      "delete absent 404",
      "watch  200",
    ]);
    expect(records[0]).toMatchObject({
      resource: "configmaps",
      group: "",
      namespace: namespace.name,
      path: configMaps,
      userAgent: "quartet-test/1",
    });
    expect(records[3]!.dryRun).toBe(true);
    expect(records.every(({ at }) => at >= since && at <= Date.now())).toBe(true);

    await client.ok("GET", `${configMaps}/c`);
    expect(await controlPlane.requests({ user, verb: "get" })).toHaveLength(2);
    expect(await controlPlane.requests({ user, since: Date.now() + 1 })).toEqual([]);
    watch.abort();
    client.close();
    await namespace.empty();
  });

  it("begins for whoever attaches with what happens from then on", async () => {
    const user = `auditor-${random()}`;
    const client = testClient(await controlPlane.kubeconfig({ user, groups: ["system:masters"] }));
    await client.ok("GET", "/version");
    await controlPlane.requests();
    const late = attachControlPlane(controlPlane.handle);
    await client.ok("GET", "/api");
    expect((await late.requests({ user })).map(({ path }) => path)).toEqual(["/api"]);
    const all = attachControlPlane(controlPlane.handle, { auditFrom: "start" });
    expect((await all.requests({ user })).map(({ path }) => path)).toEqual(["/version", "/api"]);
    client.close();
    await Promise.all([late.stop(), all.stop()]);
  });
});

describe("existing cluster", () => {
  it("CORE-440 is that of the current context of the kubeconfig", async () => {
    const folder = mkdtempSync(join(tmpdir(), "quartet-kubeconfig-"));
    const file = join(folder, "config");
    const config = parse(await controlPlane.kubeconfig({ user: "jane", groups: ["system:masters"] }));
    config.clusters.unshift({ name: "other", cluster: { server: "https://127.0.0.1:1" } });
    config.users.unshift({ name: "other", user: {} });
    config.contexts.unshift({ name: "other", context: { cluster: "other", user: "other" } });
    writeFileSync(file, stringify(config));
    const cluster = await existingCluster({ KUBECONFIG: file });
    expect(cluster).toMatchObject({ target: "real", url: controlPlane.url, version: controlPlane.version });
    const client = testClient(await cluster.kubeconfig());
    expect((await client.request("GET", "/api/v1/nodes")).code).toBe(200);
    client.close();
    await expect(cluster.kubeconfig({ user: "joe" })).rejects.toThrow("has the identity of");
    await expect(cluster.requests()).rejects.toThrow("no audit log");
    expect(wantsExistingCluster({ USE_EXISTING_CLUSTER: "true" })).toBe(true);
    expect(wantsExistingCluster({})).toBe(false);

    writeFileSync(file, stringify({ ...config, "current-context": "absent" }));
    await expect(existingCluster({ KUBECONFIG: file })).rejects.toThrow('context "absent" names no cluster');
    rmSync(folder, { recursive: true });
  });
});
