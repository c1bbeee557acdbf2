/** The servers of probes and of metrics. */
import {
  type Client,
  type Clock,
  ConfigurationError,
  type ManagerHandle,
  type ManagerServer,
} from "@quartet/core";
import type { ManagerSettings } from "../config/settings.ts";
import { startDebugServer } from "./debug-server.ts";
import { startHealthServer } from "./health.ts";
import type { RunningServer, TlsPair } from "./http-server.ts";
import { accessReviewer } from "./metrics-access.ts";
import { METRICS_PATH, startMetricsServer } from "./metrics-server.ts";

/** A server, and its URL once it runs. */
export interface AddressedServer extends ManagerServer {
  url(): string | undefined;
}

export interface ServerOptions {
  settings: ManagerSettings;
  client: Client;
  clock: Clock;
  /** The manager, which is built after its servers. */
  manager: () => ManagerHandle;
}

/** Server of `/healthz` and `/readyz`; `undefined` when it is switched off. */
export function healthServer({ settings, manager }: ServerOptions): AddressedServer | undefined {
  const { address } = settings.health;
  if (address === undefined) return undefined;
  return addressed("health", () => {
    const { healthz, readyz, log } = manager();
    return startHealthServer({ address, healthz, readyz, log: log.named("health") });
  });
}

/** Server of `/metrics`; `undefined` when it is switched off. */
export function metricsServer({
  settings,
  client,
  clock,
  manager,
}: ServerOptions): AddressedServer | undefined {
  const { address, secure } = settings.metrics;
  if (address === undefined) return undefined;
  const ends = new AbortController();
  const server = addressed("metrics", async () => {
    const { metrics, log } = manager();
    const access = accessReviewer(client.forController("metrics"), METRICS_PATH, clock);
    const named = log.named("metrics");
    const open = (tls?: TlsPair): Promise<RunningServer> =>
      startMetricsServer({ address, metrics, log: named, ...(tls && { secure: { tls, access } }) });
    if (!secure) return open();
    const folder = settings.metrics.certDir;
    if (folder === undefined) return open(await ownCertificate(settings, clock));
    const { followServingPair, readServingPair } = await import("@quartet/core/webhook");
    const running = await open(await readServingPair(folder, clock.now()).catch(unusable));
    void followServingPair({ folder, clock, log: named, onChange: running.renew }, ends.signal);
    return running;
  });
  return {
    ...server,
    stop() {
      ends.abort();
      return server.stop();
    },
  };
}

function unusable(error: Error): never {
  throw new ConfigurationError(`--metrics-cert-dir: ${error.message}`);
}

/**
 * Server of `quartet explain`; `undefined` when it is switched off. Several managers on one machine share the default
 * port: who comes late goes without.
 */
export function debugServer({ settings, manager }: ServerOptions): AddressedServer | undefined {
  const { address } = settings.debug;
  if (address === undefined) return undefined;
  const server = addressed("debug", () => startDebugServer(address, manager().explain));
  return {
    ...server,
    start: () =>
      server.start().catch((error: unknown) => {
        manager().log.warn("Debug server does not run", { error });
      }),
  };
}

/** Certificate that is made at the start and kept in memory: scrapers know no CA for it, they check nothing. */
async function ownCertificate(
  settings: ManagerSettings,
  clock: Clock,
): Promise<{ cert: string; key: string }> {
  const { createCa, issueServing } = await import("@quartet/core/webhook");
  const ca = await createCa(clock.now());
  const leaf = await issueServing(ca, [`${settings.release}-metrics`, "localhost"], clock.now());
  return { cert: leaf.cert + ca.cert, key: leaf.key };
}

function addressed(name: string, open: () => Promise<RunningServer>): AddressedServer {
  let running: RunningServer | undefined;
  return {
    name,
    url: () => running?.url,
    async start() {
      running = await open();
    },
    async stop() {
      await running?.stop();
    },
  };
}
