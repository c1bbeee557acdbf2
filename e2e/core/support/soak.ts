/** The soak run: Echos under constant change while all watches are cut once a minute, and what that does to a manager. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type RunningManager, startManager } from "@quartet/manager";
import {
  type ApiServer,
  type CustomResourceDefinition,
  type FaultProxy,
  installCrds,
  startFaultProxy,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { parse } from "yaml";
import { CONFIG_MAP, createEchoModule, echoKind } from "../../echo/echo.ts";
import type { Sample, SoakFigures } from "./drift.ts";

const CUT_EVERY_MS = 60_000;
const SAMPLE_EVERY_MS = 2_000;
const LAG_RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;
const BYTES_PER_MIB = 2 ** 20;
/** Requests at a time. */
const PARALLEL = 16;
/** Longest wait for the cache to catch up at the end. */
const CATCH_UP_MS = 60_000;
const POLL_MS = 200;
const CRD = join(import.meta.dirname, "../../echo/crd.yaml");

export interface SoakOptions {
  readonly minutes: number;
  readonly echoes: number;
  readonly changesPerSecond: number;
  /** Told what goes on. */
  readonly note: (line: string) => void;
}

/** Runs on a server of the caller's; takes as many minutes as asked for, and the creation of the Echos before. */
export async function soak(server: ApiServer, options: SoakOptions): Promise<SoakFigures> {
  const folder = mkdtempSync(join(tmpdir(), "quartet-soak-"));
  const proxy = await startFaultProxy({ upstream: server });
  const client = testClient(await server.kubeconfig());
  try {
    await installCrds(client, [parse(readFileSync(CRD, "utf8")) as CustomResourceDefinition]);
    const { name: namespace, empty } = await testNamespace(client);
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, await proxy.kubeconfig(), { mode: 0o600 });
    const manager = await start(kubeconfig, namespace);
    await manager.ready;
    const changes = changing(client, namespace, options);
    await changes.create();
    options.note(`${options.echoes} Echos created`);
    const measured = await measure(options, proxy, changes.step);
    options.note(`${changes.count()} changes`);
    const difference = await cacheDifference(client, manager, namespace);
    const { code } = await manager.stop();
    await empty();
    return { minutes: options.minutes, ...measured, difference, exitCode: code };
  } finally {
    client.close();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(kubeconfig: string, namespace: string): Promise<RunningManager> {
  const { webhooks: _, ...echo } = createEchoModule();
  const listen = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`);
  return startManager({
    modules: [echo],
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--namespaces=${namespace}`,
      "--leader-elect=false",
      ...listen,
      "--shutdown-delay=0s",
      "--log-level=error",
    ],
  });
}

interface Changes {
  create(): Promise<void>;
  /** One second's worth of changes. */
  step(): Promise<void>;
  count(): number;
}

function changing(client: TestClient, namespace: string, options: SoakOptions): Changes {
  const path = `/apis/test.quartet.io/v1/namespaces/${namespace}/echoes`;
  const contentType = "application/merge-patch+json";
  let count = 0;
  return {
    create: () =>
      times(options.echoes, async (index) => {
        const metadata = { name: `e-${index}` };
        const body = { apiVersion: "test.quartet.io/v1", kind: "Echo", metadata, spec: { text: "first" } };
        await client.ok("POST", path, body);
      }),
    step: () =>
      times(options.changesPerSecond, async () => {
        const change = count++;
        const spec = { text: `change ${change}` };
        await client.ok("PATCH", `${path}/e-${change % options.echoes}`, { spec }, { contentType });
      }),
    count: () => count,
  };
}

async function times(count: number, action: (index: number) => Promise<void>): Promise<void> {
  const rest = Array.from({ length: count }, (_, index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of rest) await action(index);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

type Measured = Pick<SoakFigures, "samples" | "heapMib" | "lagP99Ms" | "machineLagP99Ms">;

/** Changes, cuts and samples until the time is over. */
async function measure(
  { minutes, note }: SoakOptions,
  proxy: FaultProxy,
  step: () => Promise<void>,
): Promise<Measured> {
  const machine = idleProcess();
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  const samples: Sample[] = [];
  const begun = performance.now();
  const lengthMs = minutes * 60_000;
  let [nextCut, nextSample, warm] = [CUT_EVERY_MS / 2, 0, Number.NaN];
  lag.enable();
  for (let second = 1; performance.now() - begun < lengthMs; second++) {
    await step();
    const at = performance.now() - begun;
    if (at >= nextCut) {
      nextCut += CUT_EVERY_MS;
      note(`cut ${proxy.cut({ watch: true })} watches`);
    }
    if (Number.isNaN(warm) && at >= lengthMs / 4) {
      // A collection of everything is no lag of the program's.
      lag.disable();
      warm = heapInUseMib();
      lag.enable();
    }
    if (at >= nextSample) {
      nextSample += SAMPLE_EVERY_MS;
      samples.push({ at, rssMib: process.memoryUsage.rss() / BYTES_PER_MIB, sockets: openSockets() });
    }
    await sleep(Math.max(0, second * 1000 - at));
  }
  lag.disable();
  return {
    samples,
    heapMib: [warm, heapInUseMib()],
    lagP99Ms: lag.percentile(99) / NS_PER_MS - LAG_RESOLUTION_MS,
    machineLagP99Ms: await machine.lagP99Ms(),
  };
}

/** What is in use after a garbage collection. */
function heapInUseMib(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / BYTES_PER_MIB;
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "TCPSocketWrap").length;
}

/** Measures the event-loop lag of its own until its input ends. */
const IDLE = `
const lag = require("node:perf_hooks").monitorEventLoopDelay({ resolution: ${LAG_RESOLUTION_MS} });
lag.enable();
process.stdin.resume().on("end", () => console.log(lag.percentile(99) / ${NS_PER_MS} - ${LAG_RESOLUTION_MS}));
`;

/** A process that does nothing: how late it is run is the machine's affair. */
function idleProcess(): { lagP99Ms(): Promise<number> } {
  const child: ChildProcess = spawn(process.execPath, ["-e", IDLE], { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return {
    async lagP99Ms() {
      const closed = once(child, "close");
      child.stdin!.end();
      await closed;
      return Number(text);
    },
  };
}

/** What differs between the cache and a live list once all has come to rest; undefined when nothing does. */
async function cacheDifference(
  client: TestClient,
  { manager }: RunningManager,
  namespace: string,
): Promise<string | undefined> {
  const kinds = [
    { kind: echoKind("test.quartet.io"), path: `/apis/test.quartet.io/v1/namespaces/${namespace}/echoes` },
    { kind: CONFIG_MAP, path: `/api/v1/namespaces/${namespace}/configmaps` },
  ];
  const deadline = Date.now() + CATCH_UP_MS;
  for (;;) {
    let difference: string | undefined;
    for (const { kind, path } of kinds) {
      const live = versionsOf((await client.ok<{ items: Versioned[] }>("GET", path)).items);
      const cached = versionsOf(await manager.cache.list(kind, { namespace }));
      if (live !== cached) difference = `the cache of ${kind.plural} differs from the server`;
    }
    if (difference === undefined || Date.now() > deadline) return difference;
    await sleep(POLL_MS);
  }
}

interface Versioned {
  readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
}

function versionsOf(objects: readonly Versioned[]): string {
  return objects
    .map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`)
    .sort()
    .join(" ");
}
