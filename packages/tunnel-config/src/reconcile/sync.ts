/**
 * The configuration of one tunnel: gathers what the objects of the cluster contribute, transmits it when it differs from
 * what was transmitted last, and keeps both in the tunnel's ConfigMap. One pass is at work on a tunnel at a time, and it
 * alone writes the ConfigMap: nothing is lost between writers (section 6).
 */
import type { Clock, ObjectKey, Reconcile, ReconcileContext, Result } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject } from "@quartet/core/kinds";
import type { TunnelConfiguration } from "../cloudflare/api.ts";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS, BACKUP_KEY, CONFIG_KEY, LABELS } from "../constants.ts";
import { type Aggregate, aggregate } from "../desired/aggregate.ts";
import { type ConfigDocument, DocumentError, parseDocument, type Sources } from "../desired/document.ts";
import { driftLines, foreignRules } from "../desired/drift.ts";
import type { Cached } from "../kinds.ts";
import { type Access, type AccessOptions, resolveAccess, storedAccess } from "./access.ts";
import type { Backoff } from "./backoff.ts";
import { type Collected, collect } from "./collect.ts";
import { type Problem, problemOf } from "./problem.ts";
import { nextSources } from "./sources.ts";
import { tellOutcome } from "./sync-events.ts";
import { type StoredConfig, saveDocument } from "./sync-store.ts";
import { readWorld } from "./world.ts";

export interface SyncOptions extends AccessOptions {
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly drift: DriftWatch;
  /** Namespaces that are watched; none means all. */
  readonly namespaces: readonly string[];
}

/** When the configuration in the account was last compared, by tunnel. */
export interface DriftWatch {
  /** Milliseconds between comparisons; 0 = never. */
  readonly intervalMs: number;
  readonly checked: Map<string, number>;
  /** Times at which somebody else's configuration was overwritten. */
  readonly overwritten: Map<string, number[]>;
}

/** Overwriting somebody else so often within the window means a fight (TUN-634). */
const FIGHT = { times: 3, windowMs: 600_000, pauseMs: 3_600_000 } as const;
/** Longest backup of a configuration that is overwritten, in bytes (TUN-627). */
const MAX_BACKUP = 256 * 1024;

/** Reconcile of ConfigMaps by their keys. */
export function createSync(options: SyncOptions): Reconcile {
  return (key, ctx) => pass(key, ctx, options);
}

interface Pass {
  readonly key: ObjectKey;
  readonly ctx: ReconcileContext;
  readonly options: SyncOptions;
  readonly tunnelId: string;
  readonly stored: StoredConfig;
  readonly collected: Collected;
  readonly sources: Sources;
  readonly desired: Aggregate;
}

async function pass(key: ObjectKey, ctx: ReconcileContext, options: SyncOptions): Promise<Result> {
  const tunnelId = key.name.replace(/^tunnel-config-/, "");
  const stored = readStored(await ctx.cache.get(CONFIG_MAP, key), tunnelId);
  const world = await readWorld(ctx.cache, options.operatorNamespace);
  const collected = await collect(tunnelId, world, ctx.cache);
  if (stored.object === undefined && collected.owners.length === 0) return forget(key, options);
  if (stored.foreign !== undefined) {
    ctx.log.warn("a ConfigMap of a tunnel is left alone", { reason: stored.foreign });
    return {};
  }
  const others = await configsOf(ctx);
  const sources = nextSources(stored.document, collected, others, options.clock.now(), options.namespaces);
  const desired = aggregate(sources);
  const current: Pass = { key, ctx, options, tunnelId, stored, collected, sources, desired };
  if (stored.broken !== undefined) {
    const note =
      "config.json cannot be read; it is kept as config.json.bak and made anew from the objects of the cluster";
    ctx.events.record(target(current), { type: "Warning", reason: "ParseError", note });
  }
  if (collected.owners.length === 0 && stored.document.syncStatus === "TunnelDeleted") return rest(current);
  const paused = collected.owners.some(
    ({ metadata }) => metadata.annotations?.[ANNOTATIONS.pause] === "true",
  );
  if (paused) return {};
  try {
    return await transmit(current);
  } catch (error) {
    return failed(current, problemOf(error), error);
  }
}

/** A tunnel that is gone needs no configuration; its ConfigMap stays as long as something contributes. */
async function rest(current: Pass): Promise<Result> {
  const { key, ctx, sources, options, stored } = current;
  if (Object.keys(sources).length === 0) {
    await ctx.client.deleteIfExists(CONFIG_MAP, key);
    return forget(key, options);
  }
  await save(current, { ...stored.document });
  return {};
}

async function transmit(current: Pass): Promise<Result> {
  const { key, ctx, options, tunnelId, stored, collected, desired, sources } = current;
  const { document } = stored;
  const settled =
    document.syncStatus === "Synced" && document.lastHash === desired.hash && stored.broken === undefined;
  const due = driftDue(key.name, options);
  if (settled && !due) {
    await saveOrDelete(current, document);
    return nextCheck(key.name, options);
  }
  const access = await accessFor(current);
  const owner = collected.owners[0];
  const accountId = owner?.status?.accountId || access.accountId || document.accountId;
  if (accountId === undefined || accountId === "")
    throw new Error(`the account of tunnel ${tunnelId} is unknown`);
  let backup: string | undefined;
  if (settled || document.configVersion === undefined) {
    const remote = await access.api.configuration(accountId, tunnelId);
    options.drift.checked.set(key.name, options.clock.monotonic());
    if (document.configVersion === undefined) backup = backupOf(remote, current);
    else if (!(await mayOverwrite(remote, current))) return nextCheck(key.name, options);
    else if (driftLines(remote.config, desired.config).length === 0) {
      await saveOrDelete(current, document);
      return nextCheck(key.name, options);
    }
  }
  if (ctx.dryRun) return {};
  const answer = await access.api.putConfiguration(accountId, tunnelId, desired.config);
  options.drift.checked.set(key.name, options.clock.monotonic());
  options.backoff.reset(key.name);
  const { lastError: _, ...kept } = document;
  const next: ConfigDocument = {
    ...kept,
    tunnelId,
    accountId,
    tunnelName: owner?.status?.tunnelName || document.tunnelName || "",
    credentialsRef: access.stored,
    warpRouting: desired.config["warp-routing"],
    lastHash: desired.hash,
    syncStatus: "Synced",
    lastSyncTime: new Date(options.clock.now()).toISOString().replace(/\.\d+Z$/, "Z"),
    configVersion: answer.version,
  };
  await saveOrDelete(current, next, backup);
  const note = `Tunnel configuration synced (rules=${desired.config.ingress.length - 1}, warp=${desired.config["warp-routing"].enabled})`;
  ctx.events.record(target(current), { type: "Normal", reason: "Synced", note, distinct: desired.hash });
  if (Object.keys(sources).length === 0 && collected.owners.length === 0) return forget(key, options);
  return nextCheck(key.name, options);
}

/** Keeps what was found; without sources and owners there is nothing to keep (TUN-310). */
async function saveOrDelete(current: Pass, document: ConfigDocument, backup?: string): Promise<void> {
  const { key, ctx, sources, collected, stored } = current;
  if (Object.keys(sources).length === 0 && collected.owners.length === 0) {
    if (stored.object !== undefined) await ctx.client.deleteIfExists(CONFIG_MAP, key);
    return;
  }
  await save(current, document, backup);
}

async function save(current: Pass, document: ConfigDocument, backup?: string): Promise<void> {
  const { key, ctx, options, stored, collected, sources, desired } = current;
  tellOutcome(ctx.events, collected, stored.document, desired);
  const { conflicts, rejected } = desired;
  const next = { ...document, sources, conflicts, rejected };
  await saveDocument(
    {
      key,
      client: ctx.client,
      stored,
      owners: collected.owners,
      backup,
      operatorNamespace: options.operatorNamespace,
    },
    next,
  );
}

async function failed(current: Pass, problem: Problem, error: unknown): Promise<Result> {
  const { key, ctx, options, stored } = current;
  const gone = error instanceof ApiError && error.class === "not-found";
  const document = stored.document;
  if (gone) {
    await save(current, { ...document, syncStatus: "TunnelDeleted", lastError: problem.message });
    // The tunnel's own reconcile finds out and gives it a new identifier, or says that it is gone.
    return {};
  }
  // One call too many is no state of the tunnel: it waits.
  if (problem.reason !== "RateLimited") {
    if (document.lastError !== problem.message) {
      const event = {
        type: "Warning",
        reason: "SyncFailed",
        note: problem.message,
        distinct: problem.message,
      } as const;
      ctx.events.record(target(current), event);
    }
    await save(current, { ...document, syncStatus: "Error", lastError: problem.message });
  }
  const pause = problem.retryAfterMs ?? options.backoff.next(key.name);
  return { requeueAfter: pause };
}

async function accessFor({ collected, stored, ctx, options }: Pass): Promise<Access> {
  const owner = collected.owners[0];
  if (owner === undefined) return storedAccess(stored.document.credentialsRef, ctx.cache, options);
  return resolveAccess(owner.spec?.cloudflare, owner.metadata.namespace ?? "", ctx.cache, options);
}

/** The object that events about the whole configuration are for. */
function target({ collected, stored, key }: Pass) {
  const object = collected.owners[0] ?? stored.object;
  return object ?? { apiVersion: "v1", kind: "ConfigMap", metadata: key };
}

function readStored(object: Cached<ConfigObject> | undefined, tunnelId: string): StoredConfig {
  if (object === undefined) return { object, document: { sources: {} } };
  const label = object.metadata.labels?.[LABELS.tunnelId];
  if (label !== tunnelId)
    return { object, document: { sources: {} }, foreign: `its label names tunnel ${label}` };
  const text = object.data?.[CONFIG_KEY];
  if (text === undefined) return { object, document: { sources: {} } };
  try {
    const document = parseDocument(text);
    if (document.tunnelId === undefined || document.tunnelId === tunnelId) return { object, document };
    return { object, document, foreign: `config.json names tunnel ${document.tunnelId}` };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { object, document: { sources: {} }, broken: text };
  }
}

/** Documents of all tunnels, by identifier. */
async function configsOf(ctx: ReconcileContext): Promise<ReadonlyMap<string, ConfigDocument>> {
  const found = new Map<string, ConfigDocument>();
  for (const object of await ctx.cache.list(CONFIG_MAP)) {
    const id = object.metadata.labels?.[LABELS.tunnelId];
    if (id === undefined) continue;
    const { document, broken } = readStored(object, id);
    if (broken === undefined) found.set(id, document);
  }
  return found;
}

function backupOf(remote: TunnelConfiguration, current: Pass): string | undefined {
  const { ctx, desired, stored } = current;
  if (stored.object?.data?.[BACKUP_KEY] !== undefined || !foreignRules(remote.config, desired.config))
    return undefined;
  const note = `the configuration in the account had rules that are not of this cluster; it is kept in ${BACKUP_KEY} of the ConfigMap and replaced`;
  ctx.events.record(target(current), { type: "Warning", reason: "RemoteConfigReplaced", note });
  const text = JSON.stringify(remote.config);
  return Buffer.byteLength(text) <= MAX_BACKUP ? text : undefined;
}

/** Whether a configuration that differs is to be replaced; tells of the difference (TUN-632 to TUN-634). */
async function mayOverwrite(remote: TunnelConfiguration, current: Pass): Promise<boolean> {
  const { key, options, desired, collected, ctx } = current;
  const lines = driftLines(remote.config, desired.config);
  if (lines.length === 0) return true;
  const note = `the configuration in the account was changed by somebody else: ${lines.join("; ")}`;
  ctx.events.record(target(current), { type: "Warning", reason: "DriftDetected", note, distinct: note });
  if (collected.owners.some(({ metadata }) => metadata.annotations?.[ANNOTATIONS.driftPolicy] === "report"))
    return false;
  const now = options.clock.monotonic();
  const times = (options.drift.overwritten.get(key.name) ?? []).filter((time) => time > now - FIGHT.windowMs);
  if (times.length >= FIGHT.times) return false;
  options.drift.overwritten.set(key.name, [...times, now]);
  return true;
}

function driftDue(name: string, { drift, clock }: SyncOptions): boolean {
  const checked = drift.checked.get(name);
  if (drift.intervalMs === 0 || checked === undefined) {
    drift.checked.set(name, clock.monotonic());
    return false;
  }
  return clock.monotonic() - checked >= drift.intervalMs;
}

function nextCheck(name: string, { drift, clock }: SyncOptions): Result {
  if (drift.intervalMs === 0) return {};
  const checked = drift.checked.get(name) ?? clock.monotonic();
  return { requeueAfter: Math.max(1000, checked + drift.intervalMs - clock.monotonic()) };
}

function forget(key: ObjectKey, { drift, backoff }: SyncOptions): Result {
  drift.checked.delete(key.name);
  drift.overwritten.delete(key.name);
  backoff.reset(key.name);
  return {};
}
