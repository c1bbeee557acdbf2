/**
 * `npm run bench:tars`: many TServers at once on a real API server with kwok, the manager a process of its own whose webhooks
 * the API server calls. Prints how long their children and their active endpoints take, by the audit log, and what they cost.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { addNode, type RequestRecord, startControlPlane, testClient } from "@quartet/testing";
import { orUsage, positive } from "./options.ts";
import { cpuSeconds, residentMib } from "./process.ts";
import { startProgram, stopProgram, until } from "./program.ts";

const USAGE = `npm run bench:tars -- [flags] [-- flags of the manager]
  --servers=N  TServers of one replica, default 300`;
const WRITERS = 8;
const NODES = 4;
const LIMIT_MS = 600_000;
/** Rest is judged some time after the last state was written. */
const SETTLE_MS = 3_000;
const REST_MS = 30_000;
const NAMESPACE = "fleet";
const USER = "bench-tars";
const GROUP = "k8s.tars.io";
const TARS = `/apis/${GROUP}/v1beta2`;
/** Kinds that each server gets one of. */
const CHILDREN = ["tendpoints", "texitedrecords", "services", "statefulsets"];

const { count, managerFlags } = orUsage(USAGE, () => {
  const { values, positionals } = parseArgs({
    options: { servers: { type: "string", default: "300" } },
    allowPositionals: true,
  });
  return { count: positive("--servers", values.servers), managerFlags: positionals };
});

const folder = mkdtempSync(join(tmpdir(), "quartet-bench-"));
const workDir = join(folder, "control-plane");
const server = await startControlPlane({ workDir, onProgress: (line) => console.error(line) });
const client = testClient(await server.kubeconfig());
const kubeconfig = await server.kubeconfig({ user: USER });
const manager = await startProgram({ folder, kubeconfig, controllers: "tars", flags: managerFlags });
try {
  await furnish();
  const before = cpuByProgram();
  const since = Date.now();
  const watch = watchActive();
  await createServers();
  const createdMs = Date.now() - since;
  await watch;
  const activeMs = Date.now() - since;
  await sleep(SETTLE_MS);
  const spent = cpuByProgram().map(({ name, cpu }, index) => ({ name, cpu: cpu - before[index]!.cpu }));
  const sent = await requests(since);
  const children = sent.filter(({ verb, resource }) => verb === "create" && CHILDREN.includes(resource));
  const childrenMs = Math.max(...children.map(({ at }) => at)) - since;
  const limit = managerFlags.length > 0 ? managerFlags.join(" ") : "its default flags";
  console.log(
    `${count} TServers, created in ${seconds(createdMs)} s by ${WRITERS} writers; manager with ${limit}`,
  );
  console.log(
    `all children created after ${seconds(childrenMs)} s (${children.length} of ${count * CHILDREN.length})`,
  );
  console.log(`all endpoints active after ${seconds(activeMs)} s`);
  console.log(`${sent.length} requests (${(sent.length / count).toFixed(2)} a server): ${inWords(sent)}`);
  const shares = spent.map(({ name, cpu }) => `${name} ${cpu.toFixed(1)}`).join(", ");
  const total = spent.reduce((sum, { cpu }) => sum + cpu, 0);
  console.log(`${total.toFixed(1)} s of CPU on ${availableParallelism()} cores: ${shares}`);
  console.log(`manager: ${residentMib(manager.pid!).toFixed(0)} MiB resident`);
  const rest = Date.now();
  await sleep(REST_MS);
  console.log(`rest: ${(await requests(rest)).length} requests in ${REST_MS / 1_000} s`);
} finally {
  await stopProgram(manager);
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** CPU seconds of all that share the machine's cores in this run. */
function cpuByProgram(): { name: string; cpu: number }[] {
  const pids = JSON.parse(readFileSync(join(workDir, "pids.json"), "utf8")) as number[];
  const programs = pids.map((pid) => ({ name: readFileSync(`/proc/${pid}/comm`, "utf8").trim(), pid }));
  return [
    { name: "manager", pid: manager.pid! },
    ...programs,
    { name: "this program", pid: process.pid },
  ].map(({ name, pid }) => ({ name, cpu: cpuSeconds(pid) }));
}

/** Nodes that the namespace may use, its tree, and webhooks that are asked. */
async function furnish(): Promise<void> {
  for (let node = 0; node < NODES; node++) {
    await addNode(client, `node-${node}`, { labels: { [`tars.io/node.${NAMESPACE}`]: "" } });
  }
  await client.ok("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  const tree = { ...own("TTree", "tars-tree"), businesses: [], apps: [] };
  await client.ok("POST", `${TARS}/namespaces/${NAMESPACE}/ttrees`, tree);
  const orphan = { ...own("TTemplate", "probe"), spec: { content: "", parent: "none" } };
  const path = `${TARS}/namespaces/${NAMESPACE}/ttemplates?dryRun=All`;
  await until(async () => (await client.request("POST", path, orphan)).code === 400);
}

function own(kind: string, name: string): object {
  return { apiVersion: `${GROUP}/v1beta2`, kind, metadata: { name } };
}

async function createServers(): Promise<void> {
  let next = 0;
  const write = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      await client.ok("POST", `${TARS}/namespaces/${NAMESPACE}/tservers`, {
        ...own("TServer", `fleet-s${index}`),
        spec: {
          app: "Fleet",
          server: `S${index}`,
          subType: "normal",
          normal: { ports: [{ name: "http", port: 8080 }] },
          k8s: { replicas: 1, abilityAffinity: "None" },
          release: { id: "v1", image: "r.example/s:v1" },
        },
      });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

interface Endpoint {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly pods?: readonly { readonly presentState?: string }[] };
}

/** Resolves when all endpoints are active: by a watch, which costs the API server less than looking would. */
async function watchActive(): Promise<void> {
  const active = new Set<string>();
  const path = `${TARS}/namespaces/${NAMESPACE}/tendpoints?watch=1`;
  for await (const { object } of client.stream<{ object: Endpoint }>(path, AbortSignal.timeout(LIMIT_MS))) {
    const { metadata, status } = object;
    if (status?.pods?.[0]?.presentState === "Active") active.add(metadata.name);
    if (active.size === count) return;
  }
  throw new Error(`${active.size} of ${count} endpoints are active within ${LIMIT_MS / 1_000} s`);
}

/** What the manager sent, watches and Leases left out. */
async function requests(since: number): Promise<RequestRecord[]> {
  const all = await server.requests({ since, user: USER });
  return all.filter(({ verb, resource }) => verb !== "watch" && resource !== "leases");
}

function inWords(sent: readonly RequestRecord[]): string {
  const counts = new Map<string, number>();
  for (const { verb, resource, subresource, code } of sent) {
    const words = [verb, [resource, subresource].filter(Boolean).join("/"), code >= 400 ? code : ""];
    const text = words.filter(Boolean).join(" ");
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([words, number]) => `${number} ${words}`).join(", ");
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1);
}
