/** `quartet tars-agent` on one node: folders and volumes for the claims of local volumes (tars.md 9). */
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CommandContext,
  createClient,
  createLogging,
  loadConnection,
  parseLogLevels,
  systemClock,
} from "@quartet/core";
import { agentCommand } from "@quartet/tars-tserver";
import { OWN_NODE_TAINT } from "@quartet/testing";
import { eventually, openStage, type Stage } from "@quartet/testing/stage";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { LiveObject } from "./support/scene.ts";

const LABELS = {
  "tars.io/ServerApp": "Demo",
  "tars.io/ServerName": "EchoServer",
  "tars.io/LocalVolume": "data",
};
const FOLDER = "Demo.EchoServer/data";
let stage: Stage;
let base: string;
let node: string;
beforeEach(async () => {
  stage = await openStage();
  base = await mkdtemp(join(tmpdir(), "tars-agent-"));
  node = `node-of-${stage.namespace}`;
  stage.onClose(() => rm(base, { recursive: true, force: true }));
});
afterEach(() => stage.close());

async function startAgent(env: Record<string, string>): Promise<{ stop(): Promise<number> }> {
  const kubeconfig = join(base, "..", `${node}.kubeconfig`);
  await writeFile(kubeconfig, await stage.server.kubeconfig(), { mode: 0o600 });
  const stop = new AbortController();
  const client = createClient({ connection: await loadConnection({ kubeconfig }), version: "test" });
  const { log } = createLogging({ levels: parseLogLevels("error") });
  const context: CommandContext = {
    client,
    clock: systemClock,
    log,
    lease: "quartet-manager",
    env,
    signal: stop.signal,
    print: () => {},
  };
  const ended = agentCommand(base).run(context);
  const end = async (): Promise<number> => {
    stop.abort();
    const code = await ended.catch(() => 1);
    client.close();
    await rm(kubeconfig, { force: true });
    return code;
  };
  stage.onClose(end);
  return { stop: end };
}

const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const createClaim = (annotations: Record<string, string> = {}) =>
  stage.client.ok("POST", `/api/v1/namespaces/${stage.namespace}/persistentvolumeclaims`, {
    metadata: {
      name: "data-demo-echoserver-0",
      labels: LABELS,
      annotations: {
        "tars.io/LocalVolumeUID": String(uid),
        "tars.io/LocalVolumeGID": String(gid),
        ...annotations,
      },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1G" } },
      selector: { matchLabels: LABELS },
      storageClassName: "tars-storage-class",
    },
  });
async function volumes(): Promise<LiveObject[]> {
  const { items } = await stage.client.ok<{ items: LiveObject[] }>("GET", "/api/v1/persistentvolumes");
  return items.filter(({ metadata }) => metadata.name.startsWith(`${stage.namespace}-`));
}
const claimPath = () => `/api/v1/namespaces/${stage.namespace}/persistentvolumeclaims/data-demo-echoserver-0`;
const volumePath = (name: string) => `/api/v1/persistentvolumes/${name}`;
const merge = (path: string, body: object) =>
  stage.client.ok("PATCH", path, body, { contentType: "application/merge-patch+json" });

/** The scheduler's part: the claim is to have the volume. */
async function bind(volume: string): Promise<void> {
  const { metadata } = await stage.client.ok<LiveObject>("GET", claimPath());
  const { name, namespace, uid: claimUid } = metadata;
  const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid: claimUid };
  await merge(volumePath(volume), { spec: { claimRef } });
  await settles(volume, "Bound");
}

/** The claim goes; its finalizer is taken off as its protection controller does, which does not run here. */
async function removeClaim(volume: string): Promise<void> {
  await stage.client.ok("DELETE", claimPath());
  const { code } = await stage.client.request("GET", claimPath());
  if (code === 200) await merge(claimPath(), { metadata: { finalizers: null } });
  await settles(volume, "Released");
}

/** The volume controller's part; the double has none. Nobody waits for a phase in which the agent takes the volume away. */
async function settles(volume: string, phase: "Bound" | "Released"): Promise<void> {
  if (stage.target === "double") await merge(`${volumePath(volume)}/status`, { status: { phase } });
  else if (phase === "Bound")
    await eventually(async () => {
      const { status } = await stage.client.ok<LiveObject>("GET", volumePath(volume));
      expect(status.phase).toBe(phase);
    });
}

it("TARS-LV-001 TARS-LV-014 the agent needs the name of its node, and a limit that is a number", async () => {
  const run = (env: Record<string, string>) => agentCommand(base).run({ env } as unknown as CommandContext);
  await expect(run({})).rejects.toThrow("NodeName");
  await expect(run({ NodeName: "n", TLVLimit: "0" })).rejects.toThrow("TLVLimit");
});

it("TARS-LV-003 TARS-LV-006 TARS-LV-009 a claim gets a folder and a volume once the node may have them, and loses both with itself", async () => {
  await stage.client.ok("POST", "/api/v1/nodes", {
    metadata: { name: node, labels: { "kubernetes.io/hostname": node } },
    spec: { taints: [OWN_NODE_TAINT] },
  });
  stage.onClose(() => stage.client.request("DELETE", `/api/v1/nodes/${node}`));
  const agent = await startAgent({ NodeName: node, TLVInHost: "/data/volumes" });
  await createClaim({ "tars.io/LocalVolumeMode": "700" });
  await merge(`/api/v1/nodes/${node}`, { metadata: { labels: { "tars.io/SupportLocalVolume": "" } } });
  await eventually(async () => {
    const [volume, ...more] = await volumes();
    expect(more).toEqual([]);
    expect(volume.spec.local.path).toBe(`/data/volumes/${stage.namespace}/${FOLDER}`);
    expect(volume.spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values).toEqual([node]);
  });
  const folder = join(base, stage.namespace, FOLDER);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const [volume] = await volumes();
  stage.onClose(() => stage.client.request("DELETE", volumePath(volume.metadata.name)));
  await bind(volume.metadata.name);
  await removeClaim(volume.metadata.name);
  await eventually(async () => {
    const left = await volumes();
    expect(left.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
    await expect(stat(folder)).rejects.toThrow("ENOENT");
  });
  expect(await agent.stop()).toBe(0);
});
