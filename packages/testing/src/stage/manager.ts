/** Runs modules inside the test process: their outside can be replaced and their output looked at. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  type ControllerModule,
  controllerMetrics,
  createCache,
  createClient,
  createLogging,
  createManager,
  createMetrics,
  defaultFlags,
  type Logger,
  loadConnection,
  type ManagerHandle,
  parseLogLevels,
  systemClock,
} from "@quartet/core";
import { eventually } from "./eventually.ts";

/** Fields of an object whose content is not held. */
const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** A controller that does not work yet, in the metrics. */
const BEGINNING = /^quartet_controller_state\{.*state="(?:Starting|Syncing)".*\} 1$/m;

/** User agent's version, and identity, of managers in tests. */
const TEST_VERSION = "test";

/** A manager without servers and without an election. */
export interface TestManager {
  /** Everything logged so far, a JSON object a line. */
  log(): string;
  /** Metrics in text form. */
  metrics(): Promise<string>;
  /** Resolves when no controller is still about to begin. */
  working(): Promise<void>;
  /** Reconciles of an object that have ended; needs the log level debug. */
  reconciles(name: string): number;
  /** Objects of a kind whose content is held, over all watches. */
  cached(kind: string): number;
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly modules: readonly ControllerModule[];
  /** Namespaces to work in; empty means all. */
  readonly namespaces?: readonly string[];
  /** Parsed values of the modules' flags that are not at their default, by flag name. */
  readonly flags?: Readonly<Record<string, string | number | boolean>>;
  /** Default `debug`. */
  readonly logLevel?: string;
  /** Feature gates that are not at their default, by name. */
  readonly features?: Readonly<Record<string, boolean>>;
  /** The controllers only plan (`--dry-run-controllers`). */
  readonly dryRun?: boolean;
  /** Most bytes that are cached of one namespace. Default: the cache's own. */
  readonly namespaceBytes?: number;
}

/** Starts a manager with the modules and resolves when it is at work. */
export async function startTestManager(options: RunOptions & { kubeconfig: string }): Promise<TestManager> {
  const { kubeconfig, ...rest } = options;
  const folder = mkdtempSync(join(tmpdir(), "quartet-manager-"));
  const file = join(folder, "kubeconfig");
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const connection = await loadConnection({ kubeconfig: file });
  const logging = keepLog(rest.logLevel);
  const client = createClient({ connection, version: TEST_VERSION, log: logging.log });
  const manager = await createTestManager({ ...rest, client, logging });
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

export interface TestManagerOptions extends RunOptions {
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
export async function createTestManager(
  options: TestManagerOptions,
): Promise<TestManager & { start(): Promise<void> }> {
  const {
    modules,
    namespaces = [],
    flags,
    features = {},
    logLevel,
    dryRun = false,
    client,
    reader = client,
  } = options;
  const { logging = keepLog(logLevel), namespaceBytes } = options;
  const { log, lines } = logging;
  const cache = createCache({
    ...{ client: reader, clock: systemClock, log, namespaces, guard: true },
    ...(namespaceBytes !== undefined && { namespaceBytes }),
  });
  const metrics = createMetrics({ processMetrics: false });
  const manager: ManagerHandle = createManager({
    client,
    cache,
    clock: systemClock,
    log,
    metrics,
    controllerOptions: (_, declared) => ({
      maxConcurrentReconciles: 4,
      reconcileTimeoutMs: 300_000,
      needLeaderElection: true,
      ...declared,
    }),
    runsDry: () => dryRun,
    recoverPanic: true,
    controllerObserver: controllerMetrics(metrics),
    features,
    namespaces,
    identity: `${hostname()}_${TEST_VERSION}`,
    instance: TEST_VERSION,
    servers: [],
    warmup: false,
    cacheSyncTimeoutMs: 30_000,
    gracefulShutdownTimeoutMs: 10_000,
    shutdownDelayMs: 0,
  });
  const all = { ...defaultFlags(modules.flatMap((module) => module.flags)), ...flags };
  for (const module of modules) module.build(manager.forModule(module, all), all);
  return {
    start: () => manager.start(),
    log: () => lines.join(""),
    metrics: () => metrics.render(),
    working: () =>
      eventually(async () => {
        const [beginning] = BEGINNING.exec(await metrics.render()) ?? [];
        if (beginning !== undefined) throw new Error(`still about to begin: ${beginning}`);
      }),
    reconciles: (name) =>
      lines.filter((line) => line.includes('"msg":"Reconciled"') && line.includes(`"name":"${name}"`)).length,
    cached: (kind) =>
      cache
        .informers()
        .filter((informer) => informer.kind.kind === kind)
        .flatMap((informer) => informer.list())
        .filter((object) => Object.keys(object).some((field) => !IDENTITY.has(field))).length,
    stop: async () => void (await manager.stop()),
  };
}
