/** Tunnel and ClusterTunnel in both of their versions, converted by the webhook of a manager. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startManager } from "@quartet/manager";
import { type CloudflareDouble, createCloudflareDouble } from "@quartet/testing";
import { type Arena, startArena } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { createTunnelModule, tunnelModule } from "@quartet/tunnel-config";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const START_MS = 180_000;
const GROUP = "networking.cloudflare-operator.io";
const MERGE = { contentType: "application/merge-patch+json" };

// biome-ignore lint/suspicious/noExplicitAny: objects of both versions
type Loose = any;

let arena: Arena;
let folder: string;
let cloudflare: CloudflareDouble;
let manager: Awaited<ReturnType<typeof startManager>> | undefined;
beforeAll(async () => {
  const real = process.env.QUARTET_TARGET === "real";
  arena = await startArena({ modules: [tunnelModule] }, { real, nodes: [] });
  folder = await mkdtemp(join(tmpdir(), "quartet-versions-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await arena.kubeconfig(), { mode: 0o600 });
  cloudflare = await createCloudflareDouble();
  manager = await startManager({
    modules: [createTunnelModule({ baseUrl: cloudflare.url })],
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--webhook-port=0",
      "--log-level=error",
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    registerWebhooks: true,
    processMetrics: false,
  });
  await manager.ready;
  // The API server learns of the conversion by a watch of its own.
  const spec = { enableWarpRouting: true, cloudflare: { credentialsRef: { name: "absent" } } };
  await arena.client.ok("POST", path("Tunnel", "v1alpha2"), {
    ...named("Tunnel", "probe", "v1alpha2"),
    spec,
  });
  await eventually(async () => {
    const { body } = await arena.client.request<Loose>("GET", path("Tunnel", "v1alpha1", "probe"));
    expect(body.metadata?.annotations ?? {}).toHaveProperty(["cloudflare-operator.io/v1alpha2-extra"]);
  });
}, START_MS);
afterAll(async () => {
  await manager?.stop();
  await cloudflare?.close();
  await arena?.close();
  await rm(folder, { recursive: true, force: true });
}, START_MS);

function path(kind: string, version: string, name = ""): string {
  const place = kind === "Tunnel" ? "namespaces/default/tunnels" : "clustertunnels";
  return `/apis/${GROUP}/${version}/${place}${name === "" ? "" : `/${name}`}`;
}

function named(kind: string, name: string, version: string): Loose {
  return { apiVersion: `${GROUP}/${version}`, kind, metadata: { name } };
}

describe.each(["Tunnel", "ClusterTunnel"])("%s", (kind) => {
  const get = (version: string, name: string) => arena.client.ok<Loose>("GET", path(kind, version, name));

  it("TUN-009 written as v1alpha1 is read as v1alpha2", async () => {
    const spec = { size: 3, image: "cloudflared:1", newTunnel: { name: "a" }, cloudflare: { secret: "cf" } };
    await arena.client.ok("POST", path(kind, "v1alpha1"), { ...named(kind, "old", "v1alpha1"), spec });
    const read = await get("v1alpha2", "old");
    expect(read.spec).toMatchObject({ newTunnel: { name: "a" }, cloudflare: { secret: "cf" } });
    expect(JSON.parse(read.spec.deployPatch)).toEqual({
      spec: {
        replicas: 3,
        template: { spec: { containers: [{ name: "cloudflared", image: "cloudflared:1" }] } },
      },
    });
    expect((await get("v1alpha1", "old")).spec).toMatchObject(spec);
  });

  it("TUN-009 changed as v1alpha1 keeps what only v1alpha2 has, and its status", async () => {
    const spec = {
      enableWarpRouting: true,
      deletionPolicy: "Orphan",
      deployPatch: '{"spec":{"minReadySeconds":5}}',
      cloudflare: { credentialsRef: { name: "absent" } },
    };
    await arena.client.ok("POST", path(kind, "v1alpha2"), { ...named(kind, "new", "v1alpha2"), spec });
    // The manager says that the credentials are missing.
    await eventually(async () => expect((await get("v1alpha2", "new")).status?.conditions).toHaveLength(1));
    const { status } = await get("v1alpha2", "new");
    await arena.client.ok("PATCH", path(kind, "v1alpha1", "new"), { spec: { size: 2 } }, MERGE);
    const read = await get("v1alpha2", "new");
    expect(read.spec).toMatchObject({ ...spec, deployPatch: expect.any(String) });
    expect(JSON.parse(read.spec.deployPatch)).toEqual({ spec: { minReadySeconds: 5, replicas: 2 } });
    expect(read.status.conditions).toMatchObject([{ type: "Ready", reason: status.conditions[0].reason }]);
    expect(read.metadata.annotations ?? {}).not.toHaveProperty(["cloudflare-operator.io/v1alpha2-extra"]);
  });
});
