/** What the settings mean where the program runs. */
import { ConfigurationError, type Connection, type RightsOptions } from "@quartet/core";
import type { ManagerSettings } from "./config/settings.ts";

/** True when a Lease decides who works: by flag, or with `auto` in a cluster only. */
export function electsLeader(settings: ManagerSettings, connection: Pick<Connection, "source">): boolean {
  const { enabled } = settings.leaderElection;
  return enabled === "auto" ? isInCluster(connection) : enabled;
}

/** Namespace of the manager itself: by flag, or the pod's. */
export function ownNamespace(
  settings: ManagerSettings,
  connection: Pick<Connection, "source" | "namespace">,
): string | undefined {
  const fromPod = isInCluster(connection) ? connection.namespace : undefined;
  return settings.leaderElection.namespace ?? fromPod;
}

/** Namespace of the Lease; throws `ConfigurationError` when it is not known. */
export function leaseNamespace(
  settings: ManagerSettings,
  connection: Pick<Connection, "source" | "namespace">,
): string {
  const namespace = ownNamespace(settings, connection);
  if (namespace === undefined) {
    throw new ConfigurationError(
      "leader election namespace unknown: set --leader-election-namespace, or --leader-elect=false",
    );
  }
  return namespace;
}

/** What the needed rights depend on. */
export function rightsOptions(settings: ManagerSettings, electing: boolean): RightsOptions {
  return {
    release: settings.release,
    ...(electing && { leaseName: settings.leaderElection.id }),
    webhooks: settings.webhook.port !== undefined,
    ownCertificates: settings.webhook.certMode === "self",
    metricsSecure: settings.metrics.secure && settings.metrics.address !== undefined,
    flags: settings.moduleFlags,
    namespaces: settings.namespaces,
  };
}

/** True in a pod that uses its service account. */
export function isInCluster(connection: Pick<Connection, "source">): boolean {
  return connection.source === "in-cluster";
}
