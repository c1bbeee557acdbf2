/** One pass over the configuration of a tunnel, and what its steps share. */
import type { Clock, KubeObject, ObjectKey, ReconcileContext, Result } from "@quartet/core";
import type { Aggregate } from "../desired/aggregate.ts";
import type { HistoryEntry, Rejection, Sources } from "../desired/document.ts";
import type { Cached } from "../kinds.ts";
import { type Access, type AccessOptions, resolveAccess, storedAccess } from "./access.ts";
import type { Backoff } from "./backoff.ts";
import type { Collected } from "./collect.ts";
import type { ConfigNotices } from "./config-notices.ts";
import type { DriftWatch } from "./drift-watch.ts";
import type { TunnelMetrics } from "./metrics.ts";
import type { Pace } from "./pace.ts";
import type { StoredConfig } from "./sync-store.ts";

export interface SyncOptions extends AccessOptions {
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly drift: DriftWatch;
  readonly pace: Pace;
  readonly metrics: TunnelMetrics;
  readonly notices: ConfigNotices;
  /** Namespaces that are watched; none means all. */
  readonly namespaces: readonly string[];
}

export interface Pass {
  readonly key: ObjectKey;
  readonly ctx: ReconcileContext;
  readonly options: SyncOptions;
  readonly tunnelId: string;
  readonly stored: StoredConfig;
  readonly collected: Collected;
  readonly sources: Sources;
  /** Sources of the last transmission, without what they may not claim any more. */
  readonly accepted: Sources;
  readonly desired: Aggregate;
  /** The configuration that the tunnel is held at, if it is. */
  readonly frozen?: HistoryEntry;
  /** What is kept of former configurations after this pass, the newest first; absent when nothing is added. */
  readonly history?: readonly HistoryEntry[];
  /** Sources that the API refuses as they are now. */
  readonly held: readonly Rejection[];
}

/** Access to the account, by the tunnel object or by what was stored with the configuration. */
export async function accessFor({ collected, stored, ctx, options }: Pass): Promise<Access> {
  const owner = collected.owners[0];
  if (owner === undefined) return storedAccess(stored.document.credentialsRef, ctx.cache, options);
  return resolveAccess(owner.spec?.cloudflare, owner.metadata.namespace ?? "", ctx.cache, options);
}

/** The object that events about the whole configuration are for. */
export function target({ collected, stored, key }: Pass): Cached<KubeObject> {
  const object = collected.owners[0] ?? stored.object;
  return object ?? { apiVersion: "v1", kind: "ConfigMap", metadata: key };
}

/** Identifier of the tunnel of a ConfigMap. */
export function tunnelOf({ name }: ObjectKey): string {
  return name.replace(/^tunnel-config-/, "");
}

/** What was remembered of a tunnel that needs no passes any more. */
export function forget(key: ObjectKey, { drift, pace, backoff, metrics, notices }: SyncOptions): Result {
  drift.forget(key.name);
  pace.forget(key.name);
  notices.forget(key.name);
  metrics.forget(tunnelOf(key));
  backoff.reset(key.name);
  return {};
}
