/**
 * `npm run bench:daemonset`: a DaemonSet with 10 patches on many nodes, on a real API server with kwok. Prints how long all
 * pods, their counts in the status and a roll of 10 % take, and what it costs the API server.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { compilePatches, createTemplateCache, dsPatchesModule, type NodePatch } from "@quartet/ds-patches";
import { addNode, installCrds, startControlPlane, testClient } from "@quartet/testing";
import { crdsOf, openStage } from "@quartet/testing/stage";
import { positive } from "./options.ts";

const { values } = parseArgs({
  options: { nodes: { type: "string", default: "1000" }, template: { type: "boolean", default: false } },
});
const NODES = positive("--nodes", values.nodes);
const PATCHES = 10;
const WRITERS = 8;
const LIMIT_MS = 600_000;
const POLL_MS = 250;
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
  const server = await startControlPlane({ onProgress: (line) => console.error(line) });
  const admin = testClient(await server.kubeconfig());
  await installCrds(admin, crdsOf([dsPatchesModule]));
  const stage = await openStage({ modules: [dsPatchesModule], server });
  const { client, namespace } = stage;
  const path = `${SETS}/namespaces/${namespace}/daemonsets`;
  const get = (): Promise<Live> => client.ok("GET", `${path}/agent`);
  const loop = monitorEventLoopDelay({ resolution: 10 });
  try {
    console.error(`creating ${NODES} nodes`);
    await each(NODES, (index) =>
      addNode(client, `n${index}`, { labels: { [GROUP]: String(index % PATCHES) } }),
    );
    const manager = await stage.start({ logLevel: "warn", flags: { "daemonset-mode": "owner" } });
    loop.enable();
    const begin = Date.now();
    await client.ok("POST", path, {
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
    });
    await until(async () => (await get()).status?.currentNumberScheduled === NODES);
    const createdMs = Date.now() - begin;
    await until(async () => (await get()).status?.numberReady === NODES);
    console.log(
      `${NODES} nodes, ${PATCHES} patches: pods counted after ${seconds(createdMs)} s, Ready in the status after ${seconds(Date.now() - begin)} s`,
    );
    await tellStatus("until all were Ready", begin);

    const roll = Date.now();
    const before = await uids();
    await client.ok("PATCH", `${path}/agent`, { spec: { patches: patches("9Ti") } }, MERGE);
    await until(async () => {
      const { metadata, status } = await get();
      const counts = [status?.updatedNumberScheduled, status?.numberAvailable];
      return status?.observedGeneration === metadata.generation && counts.every((count) => count === NODES);
    });
    const kept = await uids();
    const replaced = [...before].filter((uid) => !kept.has(uid)).length;
    console.log(`roll of one patch: ${seconds(Date.now() - roll)} s, ${replaced} of ${NODES} pods replaced`);
    await tellStatus("by the roll", roll);

    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const rest = Date.now();
    await each(NODES, (index) =>
      client.ok(
        "PATCH",
        `/api/v1/nodes/n${index}`,
        { metadata: { annotations: { beat: String(rest) } } },
        MERGE,
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const cost = await stage.cost(rest);
    const kinds = [...new Set(cost.map((words) => words.split(" ", 2).join(" ")))].join(", ");
    console.log(`${NODES} heartbeats of nodes: ${cost.length} requests (${kinds || "none"})`);
    const [mean, most] = [loop.mean, loop.max].map((ns) => (ns / 1e6 - 10).toFixed(1));
    console.log(
      `event loop (load generator in the same process): lag ${mean} ms mean, ${most} ms at most; RSS ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`,
    );
    await manager.stop();
  } finally {
    await stage.close();
    admin.close();
    await server.stop();
  }

  async function uids(): Promise<Set<string>> {
    const { items } = await client.ok<{ items: { metadata: { uid: string; deletionTimestamp?: string } }[] }>(
      "GET",
      `/api/v1/namespaces/${namespace}/pods`,
    );
    return new Set(
      items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.uid),
    );
  }

  async function tellStatus(when: string, since: number): Promise<void> {
    const all = await stage.requests(since);
    const status = all.filter(
      ({ resource, subresource }) => resource === "daemonsets" && subresource === "status",
    );
    const conflicts = all.filter(({ code }) => code === 409);
    console.log(`${when}: ${status.length} status writes, ${conflicts.length} conflicts`);
  }
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

async function each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`not done within ${LIMIT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
