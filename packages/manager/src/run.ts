/** Runs a manager: the one way for the program, for `quartet dev` and for tests. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  type Cache,
  type Client,
  type Clock,
  type Connection,
  type ControllerModule,
  cacheMetrics,
  checkRights,
  clientMetrics,
  controllerMetrics,
  createCache,
  createClient,
  createLogging,
  createManager,
  createMetrics,
  EXIT,
  exitCodeOf,
  FEATURE_GATES,
  followConfigFile,
  handleRejections,
  type LoadedSettings,
  type Logging,
  loadConnection,
  loadSettings,
  type ManagerEnd,
  type ManagerHandle,
  type Metrics,
  neededRights,
  recordBuildInfo,
  recordFeatureGates,
  systemClock,
} from "@quartet/core";
import { electsLeader, leaseNamespace, ownNamespace, rightsOptions } from "./context.ts";
import { enabledModules, flagsOf } from "./flags-of.ts";
import { watchHeap } from "./heap.ts";
import { debugServer, healthServer, metricsServer } from "./servers.ts";
import { COMMIT, VERSION } from "./version.ts";
import { createWebhooks } from "./webhooks.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface StartOptions {
  modules: readonly ControllerModule[];
  /** Flags as on the command line, without the program's name. */
  args?: readonly string[];
  /** Default: none but what the connection needs is read from `process.env` by the program itself. */
  env?: Environment;
  /** Defaults that differ from the manager's, by flag name. */
  defaults?: Readonly<Record<string, string>>;
  /** Where log lines go. Default: stderr. */
  logDestination?: { write(line: string): unknown };
  clock?: Clock;
  /** Metrics of process and Node. Default true; tests that start several managers leave them out. */
  processMetrics?: boolean;
}

/** A manager that runs. */
export interface RunningManager {
  readonly manager: ManagerHandle;
  /** Where it listens; absent for what is switched off. */
  readonly urls: {
    readonly health?: string;
    readonly metrics?: string;
    readonly debug?: string;
    readonly webhook?: string;
  };
  /** Resolves when `/readyz` answers 200; rejects when the manager ends before. */
  readonly ready: Promise<void>;
  /** Resolves when this process has begun to lead. */
  readonly leading: Promise<void>;
  readonly ended: Promise<ManagerEnd>;
  /** Stops in order; repeated calls give the same promise. */
  stop(): Promise<ManagerEnd>;
  readonly logging: Logging;
}

/** Starts a manager and resolves when it serves and takes part in the election. */
export async function startManager(options: StartOptions): Promise<RunningManager> {
  const { args = [], env = {}, modules, defaults } = options;
  const load = (): Promise<LoadedSettings> =>
    loadSettings({ args, env, modules, ...(defaults && { defaults: () => defaults }) });
  return startLoaded(await load(), load, options);
}

/** {@link startManager} with settings that were read before. */
export async function startLoaded(
  loaded: LoadedSettings,
  load: () => Promise<LoadedSettings>,
  options: StartOptions,
): Promise<RunningManager> {
  const { settings } = loaded;
  const clock = options.clock ?? systemClock;
  const logging = openLogging(loaded, options, clock);
  const { log } = logging;
  const connection = await connect(settings.kube, options.env ?? {}, logging, clock);
  const parts = openParts(loaded, connection, options, logging, clock);
  const { manager, urls } = assemble(loaded, connection, parts, options.modules);
  const background = new AbortController();
  const stopWatching = [
    watchHeap(clock, log),
    handleRejections((error) => void manager.fail(error)),
    () => background.abort(),
    () => parts.client.close(),
  ];
  void manager.ended.then(() => {
    for (const stop of stopWatching) stop();
  });
  log.info("Starting", {
    version: VERSION,
    commit: COMMIT,
    server: connection.server.href,
    from: connection.source,
  });
  for (const warning of settings.warnings) log.warn("Configuration warning", { warning });
  try {
    for (const module of enabledModules(options.modules, settings)) {
      module.build(manager, flagsOf(module, settings));
    }
    await manager.start();
  } catch (error) {
    if (exitCodeOf(error) === EXIT.failure) log.error("Start failed", { error });
    await manager.fail(error);
    throw error;
  }
  if (loaded.file !== undefined) {
    const onChange = (next: LoadedSettings["settings"]): void => logging.setLevels(next.log.levels);
    const { file } = loaded;
    void followConfigFile({ file, current: loaded, load, onChange, clock, log }, background.signal);
  }
  const ready = becomesReady(manager, clock);
  // Whoever does not wait for it learns of the end by `ended`.
  ready.catch(() => {});
  return {
    manager,
    urls: urls(),
    ready,
    leading: manager.leading,
    ended: manager.ended,
    stop: () => manager.stop(),
    logging,
  };
}

function openLogging({ settings }: LoadedSettings, options: StartOptions, clock: Clock): Logging {
  return createLogging({
    levels: settings.log.levels,
    format: settings.log.format,
    clock,
    ...(options.logDestination && { destination: options.logDestination }),
  });
}

/** The connection that the settings name. */
export function connect(
  { kubeconfig, context }: LoadedSettings["settings"]["kube"],
  env: Environment,
  { log }: Pick<Logging, "log">,
  clock: Clock,
): Promise<Connection> {
  return loadConnection({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    env,
    log: log.named("client"),
    clock,
  });
}

interface Parts {
  client: Client;
  cache: Cache;
  metrics: Metrics;
  clock: Clock;
  logging: Logging;
}

/** Client, cache and metrics. */
function openParts(
  { settings }: LoadedSettings,
  connection: Connection,
  options: StartOptions,
  logging: Logging,
  clock: Clock,
): Parts {
  const metrics = createMetrics({ processMetrics: options.processMetrics ?? true });
  recordBuildInfo(metrics, { version: VERSION, commit: COMMIT });
  recordFeatureGates(metrics, FEATURE_GATES, settings.features);
  const { qps, burst, compression } = settings.kube;
  const client = createClient({
    connection,
    version: VERSION,
    clock,
    qps,
    ...(burst > 0 && { burst }),
    compression,
    log: logging.log.named("client"),
    observer: clientMetrics(metrics),
    leaseTimeoutMs: Math.max(MIN_LEASE_TIMEOUT_MS, settings.leaderElection.renewDeadlineMs / 2),
  });
  const cache = createCache({
    client,
    clock,
    log: logging.log,
    namespaces: settings.namespaces,
    observer: cacheMetrics(metrics),
    guard: options.env?.QUARTET_CACHE_GUARD === "1",
    resyncMs: settings.syncPeriodMs,
    syncTimeoutMs: settings.cacheSyncTimeoutMs,
  });
  return { client, cache, metrics, clock, logging };
}

/** Shortest limit of a request for the Lease (CORE-108). */
const MIN_LEASE_TIMEOUT_MS = 1_000;

interface Assembled {
  manager: ManagerHandle;
  urls(): RunningManager["urls"];
}

/** The manager with its servers. */
function assemble(
  { settings }: LoadedSettings,
  connection: Connection,
  parts: Parts,
  modules: readonly ControllerModule[],
): Assembled {
  const { client, cache, clock, metrics, logging } = parts;
  const { log } = logging;
  const enabled = enabledModules(modules, settings);
  const electing = electsLeader(settings, connection);
  const namespace = ownNamespace(settings, connection);
  const lazy = { settings, client, clock, manager: (): ManagerHandle => manager };
  const health = healthServer(lazy);
  const scrape = metricsServer(lazy);
  const debug = debugServer(lazy);
  const webhooks = createWebhooks({ ...lazy, modules: enabled, cache, log, namespace });
  const rights = neededRights(enabled, rightsOptions(settings, electing));
  const { id, releaseOnCancel, ...timings } = settings.leaderElection;
  const manager: ManagerHandle = createManager({
    client,
    cache,
    clock,
    log,
    metrics,
    controllerDefaults: (name) => ({
      maxConcurrentReconciles: concurrencyOf(settings, name),
      reconcileTimeoutMs: settings.reconcileTimeoutMs,
      needLeaderElection: true,
    }),
    controllerObserver: controllerMetrics(metrics),
    recoverPanic: settings.recoverPanic,
    features: settings.features,
    namespaces: settings.namespaces,
    identity: `${hostname()}_${randomUUID()}`,
    instance: hostname(),
    ...(electing && {
      election: {
        ...timings,
        lease: { namespace: leaseNamespace(settings, connection), name: id },
        releaseOnCancel,
      },
    }),
    preflight: async () => {
      const { namespaces } = settings;
      await checkRights({
        client,
        rights,
        releaseNamespace: namespace,
        namespaces,
        log: log.named("preflight"),
      });
    },
    servers: [health, scrape, debug].filter((server) => server !== undefined),
    ...(webhooks && { webhooks }),
    warmup: settings.warmup,
    cacheSyncTimeoutMs: settings.cacheSyncTimeoutMs,
    gracefulShutdownTimeoutMs: settings.gracefulShutdownTimeoutMs,
    shutdownDelayMs: settings.shutdownDelayMs,
  });
  const urls = (): RunningManager["urls"] => {
    const all = {
      health: health?.url(),
      metrics: scrape?.url(),
      debug: debug?.url(),
      webhook: webhooks?.url(),
    };
    return Object.fromEntries(Object.entries(all).filter(([, url]) => url !== undefined));
  };
  return { manager, urls };
}

/** Concurrency of a controller; one named `tars-conversion` goes by `tars` unless it has an entry of its own. */
function concurrencyOf({ concurrency }: LoadedSettings["settings"], controller: string): number {
  const own = concurrency.byController[controller];
  const module = Object.keys(concurrency.byController).find((name) => controller.startsWith(`${name}-`));
  return own ?? (module === undefined ? undefined : concurrency.byController[module]) ?? concurrency.default;
}

/** Pause between two looks at readiness. */
const READY_POLL_MS = 20;

async function becomesReady(manager: ManagerHandle, clock: Clock): Promise<void> {
  let ended = false;
  void manager.ended.then(() => {
    ended = true;
  });
  for (;;) {
    const reasons = await Promise.all([...manager.readyz.values()].map((check) => check()));
    if (reasons.every((reason) => reason === undefined)) return;
    if (ended) throw new Error("the manager ended before it was ready");
    await new Promise<void>((resolve) => clock.setTimer(READY_POLL_MS, resolve));
  }
}
