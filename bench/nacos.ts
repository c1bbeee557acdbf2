/**
 * `npm run bench:nacos`: resident memory of a manager with the Nacos controller alone, on a real API server with kwok: with
 * one resource, with a fleet at rest, after fleets have come and gone, and with as many megabytes as a tenant may write.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { addNode, startControlPlane, testClient } from "@quartet/testing";
import { orUsage, positive } from "./options.ts";
import { cpuSeconds, residentMib } from "./process.ts";
import { startProgram, stopProgram, until } from "./program.ts";

const USAGE = `npm run bench:nacos -- [flags] [-- flags of the manager]
  --resources=N  standalone resources at rest, default 200
  --rounds=N     times that 150 resources are created and deleted, default 14
  --churn=N      resources of a round, default 150
  --large=N      ConfigMaps of 1 MiB in one namespace, each read by a resource, default 0; 350 are 350 MiB`;
const WRITERS = 8;
const NODES = 4;
const SETTLE_MS = 5_000;
const REST_MS = 30_000;
const MEBIBYTE = 2 ** 20;
const NAMESPACE = "fleet";
const USER = "bench-nacos";
const NACOS = `/apis/nacos.io/v1alpha1/namespaces/${NAMESPACE}/nacos`;
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

const { resources, rounds, churn, large, managerFlags } = orUsage(USAGE, () => {
  const { values, positionals } = parseArgs({
    options: {
      resources: { type: "string", default: "200" },
      rounds: { type: "string", default: "14" },
      churn: { type: "string", default: "150" },
      large: { type: "string", default: "0" },
    },
    allowPositionals: true,
  });
  return {
    resources: positive("--resources", values.resources),
    rounds: positive("--rounds", values.rounds),
    churn: positive("--churn", values.churn),
    large: Number(values.large),
    managerFlags: positionals,
  };
});

const folder = mkdtempSync(join(tmpdir(), "quartet-bench-"));
const server = await startControlPlane({
  workDir: join(folder, "control-plane"),
  onProgress: (line) => console.error(line),
});
const client = testClient(await server.kubeconfig());
const manager = await startProgram({
  folder,
  kubeconfig: await server.kubeconfig({ user: USER }),
  controllers: "nacos",
  flags: ["--nacos-skip-node-check", ...managerFlags],
});
try {
  await furnish();
  await sleep(SETTLE_MS);
  tell("no resource");
  await create("one", 1);
  await allRunning(1);
  await sleep(SETTLE_MS);
  tell("one resource at rest");
  const before = cpuSeconds(manager.pid!);
  const since = Date.now();
  await create("many", resources);
  await allRunning(resources + 1);
  const took = ((Date.now() - since) / 1_000).toFixed(1);
  await sleep(SETTLE_MS);
  const spent = (cpuSeconds(manager.pid!) - before).toFixed(1);
  tell(`${resources} more resources at rest, all Running after ${took} s, ${spent} s of CPU`);
  const rest = Date.now();
  await sleep(REST_MS);
  const sent = await server.requests({ since: rest, user: USER });
  const counted = sent.filter(({ verb, resource }) => verb !== "watch" && resource !== "leases");
  console.log(`rest: ${counted.length} requests in ${REST_MS / 1_000} s`);
  await remove("many", resources);
  for (let round = 0; round < rounds; round++) {
    await create(`round-${round}`, churn);
    await allRunning(churn + 1);
    await remove(`round-${round}`, churn);
  }
  tell(`${rounds} times ${churn} resources created and deleted`);
  await sleep(REST_MS);
  tell("the same, half a minute later");
  if (large > 0) await fill();
} finally {
  await stopProgram(manager);
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function tell(what: string): void {
  console.log(`${residentMib(manager.pid!).toFixed(0).padStart(4)} MiB: ${what}`);
}

async function furnish(): Promise<void> {
  for (let node = 0; node < NODES; node++) await addNode(client, `node-${node}`, {});
  await client.ok("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  for (const [name, key] of [
    ["internal", "internal.properties"],
    ["user", "user.properties"],
  ]) {
    await client.ok("POST", CONFIG_MAPS, {
      metadata: { name },
      data: { [key!]: "server.port=8848\nnacos.core.param.check.enabled=true\n" },
    });
  }
}

/** Calls for each index below `count`, some at a time. */
async function forEach(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await call(index);
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
}

async function create(prefix: string, count: number): Promise<void> {
  await forEach(count, (index) =>
    client.ok("POST", NACOS, {
      apiVersion: "nacos.io/v1alpha1",
      kind: "Nacos",
      metadata: { name: `${prefix}-${index}` },
      spec: {
        type: "standalone",
        image: "nacos/nacos-server:v2.4.3",
        internalConfigRef: { name: "internal" },
        userConfigRef: { name: "user" },
        finalConfigName: `${prefix}-${index}-final`,
      },
    }),
  );
}

/** One namespace's ConfigMaps of 1 MiB, each with the labels of our children and a resource that reads it. */
async function fill(): Promise<void> {
  const namespace = "large";
  await client.ok("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, residentMib(manager.pid!));
  }, 200);
  await forEach(large, async (index) => {
    const name = `large-${index}`;
    await client.ok("POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name, labels: { component: "nacos", middleware: "nacos" } },
      data: { "user.properties": `# ${"x".repeat(MEBIBYTE - 100)}\n` },
    });
    await client.ok("POST", `/apis/nacos.io/v1alpha1/namespaces/${namespace}/nacos`, {
      apiVersion: "nacos.io/v1alpha1",
      kind: "Nacos",
      metadata: { name },
      spec: { type: "standalone", image: "nacos/nacos-server:v2.4.3", userConfigRef: { name } },
    });
  });
  await sleep(REST_MS);
  tell(`${large} ConfigMaps of 1 MiB in one namespace, half a minute after the last`);
  await create("honest", 1);
  await until(async () => {
    const { status } = await client.ok<{ status?: { phase?: string } }>("GET", `${NACOS}/honest-0`);
    return status?.phase === "Running";
  });
  clearInterval(look);
  console.log(`${most.toFixed(0).padStart(4)} MiB at most; a resource of another namespace became Running`);
}

/** Deletes resources, and waits until their pods are gone as well. */
async function remove(prefix: string, count: number): Promise<void> {
  await forEach(count, (index) => client.ok("DELETE", `${NACOS}/${prefix}-${index}`));
  await until(async () => {
    const pods = await client.ok<{ items: unknown[] }>("GET", `/api/v1/namespaces/${NAMESPACE}/pods`);
    return pods.items.length <= 1;
  });
}

async function allRunning(count: number): Promise<void> {
  await until(async () => {
    const { items } = await client.ok<{ items: { status?: { phase?: string } }[] }>("GET", NACOS);
    return items.filter(({ status }) => status?.phase === "Running").length === count;
  });
}
