/**
 * `npm run bench:daemonset`: a DaemonSet with 10 patches on many nodes, on a real API server with kwok. Prints how long all
 * pods, their counts in the status and a roll of 10 % take, and what it costs the API server and the manager.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { compilePatches, createTemplateCache, dsPatchesModule, type NodePatch } from "@quartet/ds-patches";
import {
  type ApiServer,
  installCrds,
  startControlPlane,
  type TestClient,
  testClient,
} from "@quartet/testing";
import { crdsOf, openStage, type Stage } from "@quartet/testing/stage";
import { createNodes, heartbeats } from "./nodes.ts";
import { positive } from "./options.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "1000" },
    template: { type: "boolean", default: false },
    /** kube-scheduler's own limit of 50 requests a second instead of none. */
    "scheduler-limit": { type: "boolean", default: false },
  },
});
const NODES = positive("--nodes", values.nodes);
const PATCHES = 10;
const LIMIT_MS = 600_000;
const POLL_MS = 250;
/** For what came of heartbeats to be seen. */
const SETTLE_MS = 3_000;
const SETS = "/apis/apps.kruise.io/v1beta1";
const MERGE = { contentType: "application/merge-patch+json" };
/** Node labels: one of ten groups, so that a patch touches a tenth of the nodes. */
const GROUP = "bench/group";

interface Live {
  readonly status?: Readonly<Record<string, number>>;
  readonly metadata: { readonly generation: number };
}

const patchOf = (group: number, value: string): NodePatch => ({
  selector: { matchLabels: { [GROUP]: String(group) } },
  patch: { spec: { containers: [{ name: "main", env: [{ name: "CACHE", value }] }] } },
});
const patches = (changed?: string): NodePatch[] =>
  Array.from({ length: PATCHES }, (_, group) =>
    patchOf(group, group === 0 && changed ? changed : `${group}Ti`),
  );
const template = {
  metadata: { labels: { app: "agent" } },
  spec: { containers: [{ name: "main", image: "agent:1", env: [{ name: "CACHE", value: "0" }] }] },
};
const daemonSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    burstReplicas: NODES,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
    template,
    patches: patches(),
  },
};

templates();
if (!values.template) await cluster();

/** Time for a node's template, by the number of nodes that ask for theirs. */
function templates(): void {
  measured(1_000);
  for (const count of [1, 1_000, 5_000]) {
    console.log(`template of a node, ${count} nodes: ${measured(count).toFixed(1)} us`);
  }
}

/** Microseconds for each of so many nodes of a DaemonSet that was just read. */
function measured(count: number): number {
  const start = performance.now();
  const patchSet = compilePatches(patches());
  const templateOf = createTemplateCache(template, patchSet.match);
  for (let node = 0; node < count; node++) {
    templateOf(patchSet.maskOf({ [GROUP]: String(node % PATCHES) }));
  }
  return ((performance.now() - start) * 1_000) / count;
}

async function cluster(): Promise<void> {
  const onProgress = (line: string): void => console.error(line);
  const server = await startControlPlane({
    benchmark: true,
    controllerManager: false,
    schedulerArgs: values["scheduler-limit"] ? ["--kube-api-qps=50", "--kube-api-burst=100"] : [],
    onProgress,
  });
  try {
    await measure(server);
  } finally {
    await server.stop();
  }
}

async function measure(server: ApiServer): Promise<void> {
  const admin = testClient(await server.kubeconfig());
  await installCrds(admin, crdsOf([dsPatchesModule]));
  const stage = await openStage({ modules: [dsPatchesModule], server });
  const names = Array.from({ length: NODES }, (_, index) => `n${index}`);
  try {
    tellConditions();
    console.error(`creating ${NODES} nodes`);
    await createNodes(
      admin,
      names.map((name, index) => ({ name, labels: { [GROUP]: String(index % PATCHES) } })),
    );
    const loop = monitorEventLoopDelay({ resolution: 10 });
    const manager = await stage.start({ logLevel: "warn", flags: { "daemonset-mode": "owner" } });
    await ready(stage);
    loop.enable();
    await create(stage);
    await roll(stage);
    await sleep(SETTLE_MS);
    const rest = Date.now();
    await heartbeats(admin, names);
    await sleep(SETTLE_MS);
    const cost = await stage.cost(rest);
    const kinds = [...new Set(cost.map((words) => words.split(" ", 2).join(" ")))].join(", ");
    console.log(`${NODES} heartbeats of nodes: ${cost.length} requests (${kinds || "none"})`);
    const [mean, most] = [loop.mean, loop.max].map((ns) => (ns / 1e6 - 10).toFixed(1));
    const memory = (process.memoryUsage().rss / 2 ** 20).toFixed(0);
    console.log(`event loop: lag ${mean} ms mean, ${most} ms at most; RSS ${memory} MiB`);
    await manager.stop();
  } finally {
    await stage.close();
    admin.close();
  }
}

function tellConditions(): void {
  console.log(
    `${NODES} nodes, ${PATCHES} patches; no limit on the manager's requests, ${values["scheduler-limit"] ? "50 a second" : "none"} on the scheduler's; no controller manager; CPU, lag and memory with the load generator, which is in the manager's process`,
  );
}

/** Until the manager has answered a DaemonSet that runs nowhere, so that its own start is not measured. */
async function ready({ client, namespace }: Stage): Promise<void> {
  const path = `${SETS}/namespaces/${namespace}/daemonsets`;
  const spec = {
    ...daemonSet.spec,
    template: { ...template, spec: { ...template.spec, nodeSelector: { [GROUP]: "none" } } },
    patches: [],
  };
  await client.ok("POST", path, { ...daemonSet, spec });
  await until(async () => (await get(client, namespace)).status?.observedGeneration === 1);
  await client.ok("DELETE", `${path}/agent`);
}

/** From the DaemonSet's creation until all pods are Ready in its status. */
async function create({ client, namespace, requests }: Stage): Promise<void> {
  const phase = begin();
  await client.ok("POST", `${SETS}/namespaces/${namespace}/daemonsets`, daemonSet);
  await until(async () => (await get(client, namespace)).status?.numberReady === NODES);
  const readyMs = phase.ms();
  const sent = await requests(phase.at);
  const created = sent.filter(({ verb, resource }) => verb === "create" && resource === "pods");
  const lastMs = Math.max(...created.map(({ at }) => at)) - phase.at;
  console.log(
    `${created.length} pods created after ${seconds(lastMs)} s, Ready in the status after ${seconds(readyMs)} s`,
  );
  await tellCost("until all were Ready", phase, requests);
}

/** A changed patch, until all pods have it and are available in the status. */
async function roll({ client, namespace, requests }: Stage): Promise<void> {
  const before = await uids(client, namespace);
  const phase = begin();
  const path = `${SETS}/namespaces/${namespace}/daemonsets/agent`;
  await client.ok("PATCH", path, { spec: { patches: patches("9Ti") } }, MERGE);
  await until(async () => {
    const { metadata, status } = await get(client, namespace);
    const counts = [status?.updatedNumberScheduled, status?.numberAvailable];
    return status?.observedGeneration === metadata.generation && counts.every((count) => count === NODES);
  });
  const rolledMs = phase.ms();
  const kept = await uids(client, namespace);
  const replaced = [...before].filter((uid) => !kept.has(uid)).length;
  console.log(`roll of one patch: ${seconds(rolledMs)} s, ${replaced} of ${NODES} pods replaced`);
  await tellCost("by the roll", phase, requests);
}

interface Phase {
  readonly at: number;
  /** Milliseconds since. */
  ms(): number;
  /** CPU time of this process since, milliseconds. */
  cpuMs(): number;
}

function begin(): Phase {
  const at = Date.now();
  const before = process.cpuUsage();
  return {
    at,
    ms: () => Date.now() - at,
    cpuMs() {
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    },
  };
}

async function tellCost(when: string, phase: Phase, requests: Stage["requests"]): Promise<void> {
  const cpu = seconds(phase.cpuMs());
  const all = await requests(phase.at);
  const status = all.filter(
    ({ resource, subresource }) => resource === "daemonsets" && subresource === "status",
  );
  const conflicts = all.filter(({ code }) => code === 409);
  console.log(`${when}: ${status.length} status writes, ${conflicts.length} conflicts, ${cpu} s of CPU`);
}

function get(client: TestClient, namespace: string): Promise<Live> {
  return client.ok("GET", `${SETS}/namespaces/${namespace}/daemonsets/agent`);
}

/** Pods that are not about to go. */
async function uids(client: TestClient, namespace: string): Promise<Set<string>> {
  const { items } = await client.ok<{ items: { metadata: { uid: string; deletionTimestamp?: string } }[] }>(
    "GET",
    `/api/v1/namespaces/${namespace}/pods`,
  );
  return new Set(
    items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.uid),
  );
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`not done within ${LIMIT_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}
