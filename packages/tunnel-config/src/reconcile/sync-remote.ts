/** What the account holds that is not ours. */
import { isAlreadyExists } from "@quartet/core";
import { CONFIG_MAP } from "@quartet/core/kinds";
import type { TunnelConfiguration } from "../cloudflare/api.ts";
import { ANNOTATIONS, BACKUP_KEY, BACKUP_TYPE, backupName, LABELS } from "../constants.ts";
import { hashOf } from "../desired/aggregate.ts";
import type { ConfigDocument } from "../desired/document.ts";
import { driftLines, foreignRules } from "../desired/drift.ts";
import { transmittedOf } from "../desired/history.ts";
import { Problem } from "./problem.ts";
import { type Pass, target } from "./sync-pass.ts";

/** Longest backup of a configuration that is overwritten, in bytes (TUN-627). */
const MAX_BACKUP = 900 * 1024;
/** Backups of an account's tunnels: who has an account could make any number of them, of 900 KiB each (TUN-627). */
const MAX_BACKUPS = 20;
/** Time after which a tunnel that is configured by files is looked at again, in milliseconds. */
const LOCAL_MS = 300_000;

/** A tunnel that is configured by files stays so, since there is no way back from it (TUN-211). */
export function assertRemote({ source }: TunnelConfiguration, { collected }: Pass): void {
  const migrates = ({ metadata }: Pass["collected"]["owners"][number]): boolean =>
    metadata.annotations?.[ANNOTATIONS.migrate] === "true";
  if (source !== "local" || collected.owners.some(migrates)) return;
  const message =
    "the tunnel is configured by files beside its cloudflared, and a configuration in the account would end that for ever; " +
    `to have it so, set the annotation ${ANNOTATIONS.migrate}: "true"`;
  throw new Problem("LocallyManagedTunnel", message, { retryAfterMs: LOCAL_MS });
}

/** Whether the owners want to be told of others' configurations alone. */
export function reportsDrift({ collected }: Pass): boolean {
  return collected.owners.some(
    ({ metadata }) => metadata.annotations?.[ANNOTATIONS.driftPolicy] === "report",
  );
}

/** Somebody else's configuration. */
export interface Drift {
  /** Whether it is to be replaced. */
  readonly overwrite: boolean;
  readonly conflict: NonNullable<ConfigDocument["conflict"]>;
}

/** What differs in the account for others' doing, and whether it is to be replaced (TUN-632 to TUN-634). */
export function driftOf(remote: TunnelConfiguration, current: Pass): Drift | undefined {
  const { key, options, desired, ctx } = current;
  const accepted = transmittedOf(current.stored.document);
  const isOurs = driftLines(remote.config, accepted.config).length === 0;
  const lines = driftLines(remote.config, desired.config);
  if (isOurs || lines.length === 0) return undefined;
  const note = `the configuration in the account was changed by somebody else: ${lines.join("; ")}`;
  options.metrics.drifted(current.tunnelId);
  ctx.events.record(target(current), { type: "Warning", reason: "DriftDetected", note, distinct: note });
  if (reportsDrift(current))
    return { overwrite: false, conflict: { reason: "DriftReported", message: note } };
  const overwrite = options.drift.mayOverwrite(key.name);
  return { overwrite, conflict: { reason: "ForeignWriter", message: note } };
}

/**
 * Keeps the configuration that is to be replaced, when it has rules that are not of this cluster (TUN-627). That is done
 * before it is replaced, and the ConfigMap has no owner: it is left when the tunnel is.
 */
export async function keepForeign(
  remote: TunnelConfiguration,
  accountId: string,
  current: Pass,
): Promise<void> {
  const { ctx, desired, key, tunnelId } = current;
  if (!foreignRules(remote.config, desired.config)) return;
  const text = JSON.stringify(remote.config);
  if (Buffer.byteLength(text) > MAX_BACKUP) {
    const message =
      "the configuration in the account has rules that are not of this cluster, and is too large to be kept; save it yourself and empty it";
    throw new Problem("ConfigTooLarge", message, { retryAfterMs: LOCAL_MS });
  }
  const name = backupName(tunnelId, hashOf(remote.config));
  await assertRoom(name, accountId, current);
  const labels = { [LABELS.type]: BACKUP_TYPE, [LABELS.accountId]: accountId };
  const kept = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: key.namespace, name, labels },
    data: { [BACKUP_KEY]: text },
  };
  await ctx.client.create(CONFIG_MAP, kept).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  const note = `the configuration in the account had rules that are not of this cluster; it is kept in the ConfigMap ${name} and replaced`;
  ctx.events.record(target(current), {
    type: "Warning",
    reason: "RemoteConfigReplaced",
    note,
    distinct: note,
  });
}

async function assertRoom(name: string, accountId: string, { ctx, key }: Pass): Promise<void> {
  const { items } = await ctx.client.list(CONFIG_MAP, {
    namespace: key.namespace,
    labelSelector: `${LABELS.type}=${BACKUP_TYPE},${LABELS.accountId}=${accountId}`,
    metadataOnly: true,
    limit: 0,
  });
  if (items.length < MAX_BACKUPS || items.some(({ metadata }) => metadata.name === name)) return;
  const message =
    `the configuration in the account has rules that are not of this cluster, and ${items.length} backups of tunnels of account ${accountId} are kept already; ` +
    `save and delete those in namespace ${key.namespace} (label ${LABELS.type}=${BACKUP_TYPE}) that nobody needs`;
  throw new Problem("TooManyBackups", message, { retryAfterMs: LOCAL_MS });
}
