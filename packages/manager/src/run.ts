/** Runs a manager: the one way for the program, for `quartet dev` and for tests. */
import {
  type Clock,
  type Connection,
  type ControllerModule,
  cacheMetrics,
  clientMetrics,
  createCache,
  createClient,
  createLogging,
  createMetrics,
  EXIT,
  exitCodeOf,
  handleRejections,
  type Logging,
  loadConnection,
  type ManagerEnd,
  type ManagerHandle,
  systemClock,
} from "@quartet/core";
import { assemble, concurrencyOf, type Parts, type Urls } from "./assemble.ts";
import { recordBuildInfo, recordFeatureGates } from "./build-metrics.ts";
import { type LoadedSettings, loadSettings } from "./config/load.ts";
import { followConfigFile } from "./config/reload.ts";
import type { ManagerSettings } from "./config/settings.ts";
import { enabledModules, flagsOf } from "./flags-of.ts";
import { watchHeap } from "./heap.ts";
import { COMMIT, VERSION } from "./version.ts";
import type { CertificateLives } from "./webhooks.ts";

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
  /** Lives of the webhook certificates that the manager makes. Default: 90 days, and 5 years for their CA. */
  certificateLives?: CertificateLives;
  /** Register the webhooks with the API server while the manager runs, as a chart would. Default false. */
  registerWebhooks?: boolean;
  /** Metrics of process and Node. Default true; tests that start several managers leave them out. */
  processMetrics?: boolean;
}

/** A manager that runs. */
export interface RunningManager {
  readonly manager: ManagerHandle;
  /** Where it listens; absent for what is switched off. */
  readonly urls: Urls;
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
  const enabled = enabledModules(options.modules, settings);
  const { manager, urls } = assemble(settings, connection, parts, enabled);
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
    for (const module of enabled) {
      const flags = flagsOf(module, settings);
      module.build(manager.forModule(module, flags), flags);
    }
    await manager.start();
  } catch (error) {
    if (exitCodeOf(error) === EXIT.failure) log.error("Start failed", { error });
    await manager.fail(error);
    throw error;
  }
  if (loaded.file !== undefined) {
    const onChange = (next: ManagerSettings): void => applyChange(next, manager, logging);
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

/** What of new settings takes effect while running. */
function applyChange(settings: ManagerSettings, manager: ManagerHandle, { setLevels }: Logging): void {
  setLevels(settings.log.levels);
  for (const controller of manager.controllers()) {
    const count = concurrencyOf(settings, manager.moduleOf(controller), controller.declared);
    if (count !== controller.options.maxConcurrentReconciles) controller.setMaxConcurrentReconciles(count);
  }
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

/** Client, cache and metrics. */
function openParts(
  { settings, gates }: LoadedSettings,
  connection: Connection,
  options: StartOptions,
  logging: Logging,
  clock: Clock,
): Parts {
  const metrics = createMetrics({ processMetrics: options.processMetrics ?? true });
  recordBuildInfo(metrics, { version: VERSION, commit: COMMIT });
  recordFeatureGates(metrics, gates, settings.features);
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
    namespaceBytes: settings.cacheNamespaceBytes,
  });
  const { certificateLives, registerWebhooks = false } = options;
  return {
    client,
    cache,
    metrics,
    clock,
    logging,
    registerWebhooks,
    ...(certificateLives && { certificateLives }),
  };
}

/** Shortest limit of a request for the Lease (CORE-108). */
const MIN_LEASE_TIMEOUT_MS = 1_000;

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
