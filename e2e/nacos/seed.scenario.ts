/** The manifests that the Nacos controller was asked for, applied as they stand, under the manager as it is shipped. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MODULES, type RunningManager, startManager } from "@quartet/manager";
import {
  type ApiServer,
  attachControlPlane,
  installCrds,
  type MiniKubelet,
  startDouble,
  startMiniKubelet,
  type TestClient,
  testClient,
} from "@quartet/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const NACOS = "/apis/nacos.io/v1alpha1/namespaces/default/nacos";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const STATEFUL_SET = "/apis/apps/v1/namespaces/default/statefulsets/my-nacos";
const PODS = "/api/v1/namespaces/default/pods?labelSelector=app%3Dmy-nacos";
const MERGE_PATCH = "application/merge-patch+json";
const real = process.env.QUARTET_TARGET === "real";

interface StatefulSet {
  metadata: { generation: number; resourceVersion: string };
  spec: { template: { metadata: { annotations: Record<string, string> } } };
  status: { currentRevision?: string; updateRevision?: string };
}
interface Resource {
  metadata: { resourceVersion: string };
  status?: { phase?: string; configDigest?: string };
}

let server: ApiServer;
let client: TestClient;
let kubelet: MiniKubelet | undefined;
let manager: RunningManager | undefined;
let folder: string;

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");
const seed = (name: string): { metadata: { name: string } } => parse(read(`./fixtures/seed/${name}.yaml`));
const user = (): string => `quartet-seed-${process.pid}`;

async function start(): Promise<void> {
  const file = join(folder, "kubeconfig");
  writeFileSync(file, await server.kubeconfig({ user: user() }), { mode: 0o600 });
  manager = await startManager({
    modules: MODULES,
    env: {},
    processMetrics: false,
    logDestination: { write: () => {} },
    args: [
      `--kubeconfig=${file}`,
      "--controllers=nacos",
      "--namespaces=default",
      "--nacos-skip-node-check",
      "--metrics-bind-address=0",
      "--health-probe-bind-address=127.0.0.1:0",
      "--debug-bind-address=0",
      "--shutdown-delay=0s",
    ],
  });
  await manager.ready;
}

/** Repeats a check until it passes; after two minutes its last failure is thrown. */
async function eventually<T>(check: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

async function finalConfig(): Promise<string> {
  const { data } = await client.ok<{ data: Record<string, string> }>(
    "GET",
    `${CONFIG_MAPS}/my-nacos-final-config`,
  );
  return data["application.properties"] ?? "";
}

async function podIds(): Promise<string[]> {
  const { items } = await client.ok<{ items: { metadata: { uid: string } }[] }>("GET", PODS);
  return items.map(({ metadata }) => metadata.uid).sort();
}

async function writes(since: number): Promise<string[]> {
  const requests = await server.requests({ user: user(), since });
  return requests
    .filter(
      ({ verb, resource }) => !["get", "list", "watch"].includes(verb) && !/reviews$|^leases$/.test(resource),
    )
    .map(({ verb, resource }) => `${verb} ${resource}`);
}

/** Passes when the cluster rests at a digest: all pods updated and ready, and no controller with anything left to report. */
async function atRest(digest: string): Promise<StatefulSet> {
  const set = await client.ok<StatefulSet>("GET", STATEFUL_SET);
  expect(set.spec.template.metadata.annotations["nacos.io/config-digest"]).toBe(digest);
  const { generation } = set.metadata;
  expect(set.status).toMatchObject({
    observedGeneration: generation,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
  });
  expect(set.status.currentRevision).toBe(set.status.updateRevision);
  const { status } = await client.ok<Resource>("GET", `${NACOS}/my-nacos`);
  expect(status).toMatchObject({ phase: "Running", configDigest: digest });
  return set;
}

describe("the seed's manifests", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "quartet-seed-"));
    server = real ? attachControlPlane(inject("controlPlane")) : await startDouble();
    client = testClient(await server.kubeconfig());
    if (!real) kubelet = await startMiniKubelet(server);
    await installCrds(client, [parse(read("../../crds/nacos.io_nacos.yaml"))]);
    await start();
    await client.ok("POST", CONFIG_MAPS, seed("user-config"));
    await client.ok("POST", CONFIG_MAPS, seed("internal-config"));
    await client.ok("POST", NACOS, seed("cluster"));
  });

  afterAll(async () => {
    await manager?.stop();
    for (const path of [
      `${NACOS}/my-nacos`,
      `${CONFIG_MAPS}/nacos-user-config`,
      `${CONFIG_MAPS}/nacos-internal-config`,
    ]) {
      await client.request("DELETE", path);
    }
    await kubelet?.stop();
    client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("NACOS-303 NACOS-309 merge byte-exactly into 701 bytes with digest 0a636216853f632b (M4)", async () => {
    await eventually(() => atRest("0a636216853f632b"));
    const text = await finalConfig();
    const internal = (seed("internal-config") as unknown as { data: Record<string, string> }).data[
      "internal.properties"
    ];
    const users = (seed("user-config") as unknown as { data: Record<string, string> }).data[
      "user.properties"
    ];
    expect(text).toBe(
      `# ===== Internal Configuration =====\n${internal}\n\n# ===== User Configuration =====\n${users}\n`,
    );
    expect(Buffer.byteLength(text)).toBe(701);
  });

  it("NACOS-345 NACOS-470 an edit raises the generation by one and replaces each pod once (M5)", async () => {
    const before = await eventually(() => atRest("0a636216853f632b"));
    const pods = await podIds();
    const seen = new Set(pods);
    const edited = Date.now();
    const text = (seed("user-config") as unknown as { data: Record<string, string> }).data[
      "user.properties"
    ]!;
    const data = {
      "user.properties": text.replace("nacos.console.ui.enabled=true", "nacos.console.ui.enabled=false"),
    };
    await client.ok("PATCH", `${CONFIG_MAPS}/nacos-user-config`, { data }, { contentType: MERGE_PATCH });
    const after = await eventually(async () => {
      for (const uid of await podIds()) seen.add(uid);
      return atRest("9713514301f4b65a");
    });
    expect(after.metadata.generation).toBe(before.metadata.generation + 1);
    expect(seen.size).toBe(6);
    expect((await podIds()).some((uid) => pods.includes(uid))).toBe(false);
    expect(Buffer.byteLength(await finalConfig())).toBe(702);
    const made = await writes(edited);
    expect(made.filter((write) => write === "update configmaps")).toHaveLength(1);
    expect(made.filter((write) => write === "update statefulsets")).toHaveLength(1);
  });

  it("NACOS-204 NACOS-211 nothing is written while nothing changes, nor by a restarted manager", async () => {
    await sleep(3000);
    const before = await client.ok<StatefulSet>("GET", STATEFUL_SET);
    const pods = await podIds();
    await manager?.stop();
    const stopped = Date.now();
    await start();
    await eventually(async () => {
      const labels = await client.ok<Resource>("GET", `${NACOS}/my-nacos`);
      expect(labels.status?.phase).toBe("Running");
    });
    await sleep(5000);
    expect((await writes(stopped)).filter((write) => write !== "create events")).toEqual([]);
    const after = await client.ok<StatefulSet>("GET", STATEFUL_SET);
    expect(after.metadata).toEqual(before.metadata);
    expect(await podIds()).toEqual(pods);
  });

  it("NACOS-309 NACOS-314 the content of the seed's diagram has digest 3f346e9c2f5179d9 in file, template and status (M1)", async () => {
    const diagram = parseAllDocuments(read("./fixtures/seed/diagram.yaml")).map((document) =>
      document.toJS(),
    );
    for (const { metadata, data } of diagram) {
      await client.ok("PATCH", `${CONFIG_MAPS}/${metadata.name}`, { data }, { contentType: MERGE_PATCH });
    }
    await eventually(async () => {
      const set = await client.ok<StatefulSet>("GET", STATEFUL_SET);
      expect(set.spec.template.metadata.annotations["nacos.io/config-digest"]).toBe("3f346e9c2f5179d9");
      const { status } = await client.ok<Resource>("GET", `${NACOS}/my-nacos`);
      expect(status?.configDigest).toBe("3f346e9c2f5179d9");
    });
    const text = await finalConfig();
    expect(Buffer.byteLength(text)).toBe(341);
    expect(createHash("sha256").update(text).digest("hex").slice(0, 16)).toBe("3f346e9c2f5179d9");
  });
});
