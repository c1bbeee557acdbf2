/** Puts a manager together with its servers. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  type Cache,
  type Client,
  type Clock,
  type Connection,
  type ControllerModule,
  type ControllerOptions,
  checkRights,
  controllerMetrics,
  createManager,
  type Logging,
  type ManagerHandle,
  type ManagerOptions,
  type Metrics,
  type ModuleIdentity,
  neededRights,
} from "@quartet/core";
import type { ManagerSettings } from "./config/settings.ts";
import { electsLeader, isInCluster, leaseNamespace, ownNamespace, rightsOptions } from "./context.ts";
import { debugServer, healthServer, metricsServer } from "./servers/servers.ts";
import { type CertificateLives, createWebhooks } from "./webhooks.ts";

/** Where a manager listens; absent for what is switched off. */
export interface Urls {
  readonly health?: string;
  readonly metrics?: string;
  readonly debug?: string;
  readonly webhook?: string;
}

/** What a manager is built on. */
export interface Parts {
  client: Client;
  cache: Cache;
  metrics: Metrics;
  clock: Clock;
  logging: Logging;
  /** Lives of webhook certificates, unless they are the usual ones. */
  certificateLives?: CertificateLives;
  /** The manager registers its webhooks itself. */
  registerWebhooks?: boolean;
}

/** A manager, and where it listens once it runs. */
export interface Assembled {
  manager: ManagerHandle;
  urls(): Urls;
}

/** The manager with its servers. */
export function assemble(
  settings: ManagerSettings,
  connection: Connection,
  parts: Parts,
  modules: readonly ControllerModule[],
): Assembled {
  const { client, cache, clock, metrics, logging, certificateLives } = parts;
  const { log } = logging;
  const namespace = ownNamespace(settings, connection);
  const lazy = { settings, client, clock, manager: (): ManagerHandle => manager };
  const servers = { health: healthServer(lazy), metrics: metricsServer(lazy), debug: debugServer(lazy) };
  const webhooks = createWebhooks({
    ...lazy,
    modules,
    cache,
    log,
    namespace,
    outside: !isInCluster(connection),
    register: parts.registerWebhooks ?? false,
    ...(certificateLives && { lives: certificateLives }),
  });
  const manager: ManagerHandle = createManager({
    client,
    cache,
    clock,
    log,
    metrics,
    controllerObserver: controllerMetrics(metrics),
    identity: `${hostname()}_${randomUUID()}`,
    instance: hostname(),
    preflight: preflightOf(settings, connection, parts, modules),
    servers: Object.values(servers).filter((server) => server !== undefined),
    ...(webhooks && { webhooks }),
    ...electionOf(settings, connection),
    ...limitsOf(settings),
  });
  const urls = (): Urls => {
    const all = { ...servers, webhook: webhooks };
    return Object.fromEntries(
      Object.entries(all).flatMap(([name, server]) =>
        server?.url() === undefined ? [] : [[name, server.url()]],
      ),
    );
  };
  return { manager, urls };
}

/** The options that are settings as they stand. */
function limitsOf(
  settings: ManagerSettings,
): Pick<
  ManagerOptions,
  | "controllerOptions"
  | "runsDry"
  | "recoverPanic"
  | "features"
  | "namespaces"
  | "warmup"
  | "cacheSyncTimeoutMs"
  | "gracefulShutdownTimeoutMs"
  | "shutdownDelayMs"
> {
  return {
    controllerOptions: (module, declared) => ({
      reconcileTimeoutMs: settings.reconcileTimeoutMs,
      needLeaderElection: true,
      ...declared,
      maxConcurrentReconciles: concurrencyOf(settings, module, declared),
    }),
    runsDry: ({ name }) => settings.dryRunControllers.includes(name),
    recoverPanic: settings.recoverPanic,
    features: settings.features,
    namespaces: settings.namespaces,
    warmup: settings.warmup,
    cacheSyncTimeoutMs: settings.cacheSyncTimeoutMs,
    gracefulShutdownTimeoutMs: settings.gracefulShutdownTimeoutMs,
    shutdownDelayMs: settings.shutdownDelayMs,
  };
}

function electionOf(settings: ManagerSettings, connection: Connection): Pick<ManagerOptions, "election"> {
  if (!electsLeader(settings, connection)) return {};
  const { id, releaseOnCancel, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings.leaderElection;
  const lease = { namespace: leaseNamespace(settings, connection), name: id };
  return { election: { leaseDurationMs, renewDeadlineMs, retryPeriodMs, releaseOnCancel, lease } };
}

function preflightOf(
  settings: ManagerSettings,
  connection: Connection,
  { client, logging }: Parts,
  modules: readonly ControllerModule[],
): () => Promise<void> {
  const rights = neededRights(modules, rightsOptions(settings, electsLeader(settings, connection)));
  const { namespaces } = settings;
  const releaseNamespace = ownNamespace(settings, connection);
  const log = logging.log.named("preflight");
  return async () => {
    await checkRights({ client, rights, releaseNamespace, namespaces, log });
  };
}

/** Concurrency of a controller: what the settings say of its module by name, else its own, else that of all. */
export function concurrencyOf(
  { concurrency }: ManagerSettings,
  module: ModuleIdentity | undefined,
  declared: ControllerOptions,
): number {
  const named = module && concurrency.byController[module.name];
  return named ?? declared.maxConcurrentReconciles ?? concurrency.default;
}
