/**
 * `npm run soak -- MINUTES`: Echos under constant change while all watches are cut once a minute. Exits with 1 when
 * memory or sockets grow, the event loop lags, or the cache differs from the server at the end.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { CONFIG_MAP, createEchoModule, echoKind } from "@quartet/e2e/echo/echo.ts";
import { type RunningManager, startManager } from "@quartet/manager";
import {
  type CustomResourceDefinition,
  type FaultProxy,
  installCrds,
  startControlPlane,
  startFaultProxy,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { parse } from "yaml";
import { LIMITS, type Sample, violations } from "./drift.ts";
import { forEach } from "./echoes.ts";
import { positive } from "./options.ts";
import { openFiles, residentMib } from "./process.ts";

const DEFAULT_MINUTES = "5";
const ECHOES = 200;
const CHANGES_PER_SECOND = 20;
const CUT_EVERY_MS = 60_000;
const SAMPLE_EVERY_MS = 2_000;
const LAG_RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;
/** Longest wait for the cache to catch up at the end. */
const CATCH_UP_MS = 30_000;
const POLL_MS = 200;
const CRD = join(import.meta.dirname, "../e2e/echo/crd.yaml");

const minutes = positive("MINUTES", process.argv[2] ?? DEFAULT_MINUTES);
const found = await soak(minutes);
for (const violation of found) console.log(`VIOLATION: ${violation}`);
console.log(found.length === 0 ? `${minutes} minutes without a violation` : `${found.length} violations`);
process.exitCode = found.length === 0 ? 0 : 1;

async function soak(minutes: number): Promise<string[]> {
  const plane = await startControlPlane({ kwok: false, scheduler: false, onProgress: console.error });
  const folder = mkdtempSync(join(tmpdir(), "quartet-soak-"));
  const proxy = await startFaultProxy({ upstream: plane });
  const client = testClient(await plane.kubeconfig());
  try {
    await installCrds(client, [parse(readFileSync(CRD, "utf8")) as CustomResourceDefinition]);
    const { name: namespace } = await testNamespace(client);
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, await proxy.kubeconfig(), { mode: 0o600 });
    const manager = await start(kubeconfig, namespace);
    await manager.ready;
    const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
    const changes = changing(client, namespace);
    await changes.create();
    lag.enable();
    const samples = await sampling(minutes, proxy, changes.step);
    lag.disable();
    const lagP99Ms = lag.percentile(99) / NS_PER_MS - LAG_RESOLUTION_MS;
    const { rssMib, openFiles: files } = samples.at(-1)!;
    console.log(`${changes.count()} changes, RSS ${rssMib.toFixed(0)} MiB, ${files} open files`);
    console.log(`event-loop lag p99 ${lagP99Ms.toFixed(1)} ms (limit ${LIMITS.lagP99Ms})`);
    const difference = await cacheDifference(client, manager, namespace);
    const { code } = await manager.stop();
    return [
      ...violations(samples, lagP99Ms),
      ...(difference === undefined ? [] : [difference]),
      ...(code === 0 ? [] : [`the manager ended with exit code ${code}`]),
    ];
  } finally {
    client.close();
    await proxy.stop();
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(kubeconfig: string, namespace: string): Promise<RunningManager> {
  const { webhooks: _, ...echo } = createEchoModule();
  return startManager({
    modules: [echo],
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--namespaces=${namespace}`,
      "--leader-elect=false",
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      "--debug-bind-address=0",
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

function changing(client: TestClient, namespace: string): Changes {
  const path = `/apis/test.quartet.io/v1/namespaces/${namespace}/echoes`;
  const contentType = "application/merge-patch+json";
  let count = 0;
  return {
    create: () =>
      forEach([...Array(ECHOES).keys()], async (index) => {
        const metadata = { name: `e-${index}` };
        const body = { apiVersion: "test.quartet.io/v1", kind: "Echo", metadata, spec: { text: "first" } };
        await client.ok("POST", path, body);
      }),
    step: () =>
      forEach([...Array(CHANGES_PER_SECOND).keys()], async () => {
        const change = count++;
        const spec = { text: `change ${change}` };
        await client.ok("PATCH", `${path}/e-${change % ECHOES}`, { spec }, { contentType });
      }),
    count: () => count,
  };
}

/** Changes, cuts and samples until the time is over. */
async function sampling(minutes: number, proxy: FaultProxy, step: () => Promise<void>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const begun = performance.now();
  const end = begun + minutes * 60_000;
  let [nextCut, nextSample] = [begun + CUT_EVERY_MS / 2, begun];
  for (let second = 1; performance.now() < end; second++) {
    await step();
    const now = performance.now();
    if (now >= nextCut) {
      nextCut += CUT_EVERY_MS;
      console.error(`cut ${proxy.cut({ watch: true })} watches`);
    }
    if (now >= nextSample) {
      nextSample += SAMPLE_EVERY_MS;
      samples.push({ rssMib: residentMib(process.pid), openFiles: openFiles(process.pid) });
    }
    await sleep(Math.max(0, begun + second * 1000 - now));
  }
  return samples;
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
