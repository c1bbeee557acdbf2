/** Runs the controller inside the test process: its outside can be replaced and its output looked at. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  createCache,
  createClient,
  createLogging,
  createManager,
  createMetrics,
  type Logger,
  loadConnection,
  parseLogLevels,
  systemClock,
} from "@quartet/core";
import { createNacosModule, type NacosModuleOptions } from "../../src/index.ts";

/** User agent's version, and identity, of managers in tests. */
const TEST_VERSION = "test";

export interface TestManager {
  /** Everything logged so far. */
  log(): string;
  /** Metrics in text form. */
  metrics(): Promise<string>;
  /** Reconciles of a resource that have ended. */
  reconciles(name: string): number;
  /** Objects of a kind that are held in memory, over all watches. */
  cached(kind: string): number;
  stop(): Promise<void>;
}

export interface TestManagerOptions extends NacosModuleOptions {
  readonly kubeconfig: string;
  readonly namespaces?: readonly string[];
  readonly flags?: Readonly<Record<string, string | number | boolean>>;
  readonly logLevel?: string;
  /** The controller only plans (`--dry-run-controllers`). */
  readonly dryRun?: boolean;
}

/** Flags as the manager would parse them when none is given. */
const DEFAULT_FLAGS = { "nacos-resync": 600_000, "nacos-skip-node-check": false, "nacos-peer-namespace": "" };

/** Starts a manager with the Nacos controller alone and resolves when it is at work. */
export async function startTestManager(options: TestManagerOptions): Promise<TestManager> {
  const { kubeconfig, ...rest } = options;
  const folder = mkdtempSync(join(tmpdir(), "nacos-config-"));
  const file = join(folder, "kubeconfig");
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const connection = await loadConnection({ kubeconfig: file });
  const logging = keepLog(rest.logLevel);
  const client = createClient({ connection, version: TEST_VERSION, log: logging.log });
  const manager = createTestManager({ ...rest, client, logging });
  await manager.start();
  return {
    ...manager,
    async stop() {
      await manager.stop();
      client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface ClientOptions extends Omit<TestManagerOptions, "kubeconfig"> {
  readonly client: Client;
  /** What the caches read by. Default: `client`. */
  readonly reader?: Client;
  /** Where the manager logs. Default: a log of its own. */
  readonly logging?: KeptLog;
}

interface KeptLog {
  readonly log: Logger;
  readonly lines: readonly string[];
}

function keepLog(level = "debug"): KeptLog {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  return { log: createLogging({ levels: parseLogLevels(level), destination }).log, lines };
}

/** A manager on clients of the caller's, who also closes them; nothing runs before `start`. */
export function createTestManager(options: ClientOptions): TestManager & { start(): Promise<void> } {
  const { namespaces = [], flags = {}, logLevel, dryRun = false, client, reader = client, ...rest } = options;
  const { logging = keepLog(logLevel), ...module } = rest;
  const { log, lines } = logging;
  const cache = createCache({ client: reader, clock: systemClock, log, namespaces, guard: true });
  const metrics = createMetrics({ processMetrics: false });
  const manager = createManager({
    client,
    cache,
    clock: systemClock,
    log,
    metrics,
    controllerDefaults: () => ({
      maxConcurrentReconciles: 4,
      reconcileTimeoutMs: 300_000,
      needLeaderElection: true,
    }),
    runsDry: () => dryRun,
    recoverPanic: true,
    features: {},
    namespaces,
    identity: `${hostname()}_${TEST_VERSION}`,
    instance: TEST_VERSION,
    servers: [],
    warmup: false,
    cacheSyncTimeoutMs: 30_000,
    gracefulShutdownTimeoutMs: 10_000,
    shutdownDelayMs: 0,
  });
  createNacosModule(module).build(manager, { ...DEFAULT_FLAGS, ...flags });
  return {
    start: () => manager.start(),
    log: () => lines.join(""),
    metrics: () => metrics.render(),
    reconciles: (name) =>
      lines.filter((line) => line.includes('"msg":"Reconciled"') && line.includes(`"name":"${name}"`)).length,
    cached: (kind) =>
      cache
        .informers()
        .filter((informer) => informer.kind.kind === kind)
        .reduce((sum, informer) => sum + informer.list().length, 0),
    stop: async () => void (await manager.stop()),
  };
}
