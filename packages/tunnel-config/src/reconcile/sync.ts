/**
 * The configuration of one tunnel: gathers what the objects of the cluster contribute, transmits it when it differs from
 * what was transmitted last, and keeps both in the tunnel's ConfigMap. One pass is at work on a tunnel at a time, and it
 * alone writes the ConfigMap: nothing is lost between writers (section 6).
 */
import type { ObjectKey, Reconcile, ReconcileContext, Result } from "@quartet/core";
import { CONFIG_MAP } from "@quartet/core/kinds";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import { type Aggregate, aggregate } from "../desired/aggregate.ts";
import { openApexes } from "../desired/apex.ts";
import { unmountedCaPools } from "../desired/ca-pools.ts";
import type { ConfigDocument } from "../desired/document.ts";
import { shadowedRules } from "../desired/shadows.ts";
import { type ClaimWait, createClaimWait } from "./claim-wait.ts";
import { collect } from "./collect.ts";
import { createHostLimits } from "./host-limits.ts";
import { type Problem, problemOf } from "./problem.ts";
import { holdBack, type Transmitted, transmitSources } from "./quarantine.ts";
import { grownHistory, heldBack, tellHeld } from "./rollback.ts";
import { acceptedSources, nextSources } from "./sources.ts";
import { tellOutcome } from "./sync-events.ts";
import { accessFor, type Pass, type SyncOptions, target } from "./sync-pass.ts";
import { assertRemote, driftOf, keepForeign, reportsDrift } from "./sync-remote.ts";
import { assertFits } from "./sync-size.ts";
import { saveDocument } from "./sync-store.ts";
import { configsOf, readStored } from "./sync-stored.ts";
import { readWorld } from "./world.ts";

/** Time until sources that were not tried are transmitted, in milliseconds. */
const UNFINISHED_MS = 60_000;

/** Reconcile of ConfigMaps by their keys. */
export function createSync(options: SyncOptions): Reconcile {
  const memory = { claims: createClaimWait(options.clock), limits: createHostLimits() };
  return (key, ctx) => pass(key, ctx, options, memory);
}

/** What passes remember. */
interface Memory {
  readonly claims: ClaimWait;
  readonly limits: ReturnType<typeof createHostLimits>;
}

async function pass(
  key: ObjectKey,
  ctx: ReconcileContext,
  options: SyncOptions,
  { claims, limits }: Memory,
): Promise<Result> {
  const tunnelId = tunnelOf(key);
  const stored = readStored(await ctx.cache.get(CONFIG_MAP, key), tunnelId);
  const world = await readWorld(ctx.cache, options.operatorNamespace);
  const collected = await collect(tunnelId, world, ctx.cache);
  if (stored.object === undefined || collected.owners.length > 0) claims.forget(key.name);
  if (stored.object === undefined && collected.owners.length === 0) return forget(key, options);
  if (stored.foreign !== undefined) {
    const note = `ConfigMap ${key.name} is left alone: ${stored.foreign}`;
    const about = collected.owners[0] ?? stored.object;
    ctx.log.warn("a ConfigMap of a tunnel is left alone", { reason: stored.foreign });
    if (about !== undefined)
      ctx.events.record(about, { type: "Warning", reason: "ParseError", note, distinct: note });
    return {};
  }
  const wait = collected.owners.length > 0 ? undefined : claims.next(key.name, stored, tunnelId, world);
  if (wait !== undefined) return { requeueAfter: wait };
  const others = await configsOf(ctx);
  const { document } = stored;
  const now = options.clock.now();
  const limit = (await limits(ctx.cache, world))(tunnelId);
  const wanted = nextSources(document, collected, others, now, options.namespaces, limit);
  const accepted = acceptedSources(document, options.namespaces, limit);
  const { sources, rejected } = holdBack(wanted, accepted, document.rejected, now);
  const desired = aggregate(sources);
  const held = rejected;
  const current: Pass = { key, ctx, options, tunnelId, stored, collected, sources, accepted, desired, held };
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
    return await transmit(heldBack(current));
  } catch (error) {
    return failed(current, problemOf(error), error);
  }
}

/** Identifier of the tunnel of a ConfigMap. */
function tunnelOf({ name }: ObjectKey): string {
  return name.replace(/^tunnel-config-/, "");
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
  const { key, ctx, options, tunnelId, stored, collected, desired, sources, frozen } = current;
  const { frozen: _frozen, ...free } = stored.document;
  const document: ConfigDocument = frozen === undefined ? free : { ...free, frozen };
  const settled =
    document.syncStatus === "Synced" && document.lastHash === desired.hash && stored.broken === undefined;
  const due = options.drift.due(key.name);
  if (settled && !due) {
    await saveOrDelete(current, document);
    tellHeld(current);
    return options.drift.next(key.name);
  }
  const wait = settled ? 0 : options.pace.wait(key.name, desired.hash);
  if (wait > 0) return { requeueAfter: wait };
  if (!settled) assertFits({ ...document, sources });
  const access = await accessFor(current);
  const owner = collected.owners[0];
  const accountId = owner?.status?.accountId || access.accountId || document.accountId;
  if (accountId === undefined || accountId === "")
    throw new Error(`the account of tunnel ${tunnelId} is unknown`);
  const reported = document.conflict !== undefined && reportsDrift(current);
  if (settled || reported || document.configVersion === undefined) {
    const remote = await access.api.configuration(accountId, tunnelId, settled ? "check" : "read");
    options.drift.checked(key.name);
    assertRemote(remote, current);
    if (document.configVersion === undefined) await keepForeign(remote, accountId, current);
    else {
      const drift = driftOf(remote, current);
      if (drift === undefined ? settled : !drift.overwrite) {
        const { conflict: _, ...calm } = document;
        await saveOrDelete(current, drift === undefined ? calm : { ...calm, conflict: drift.conflict });
        return options.drift.next(key.name);
      }
    }
  }
  if (ctx.dryRun) return {};
  options.pace.sending(key.name);
  let calls = 0;
  const start = options.clock.monotonic();
  const took = (): number => (options.clock.monotonic() - start) / 1000;
  const send = async ({ config }: Aggregate): Promise<number> => {
    calls += 1;
    return (await access.api.putConfiguration(accountId, tunnelId, config)).version;
  };
  const sending: Promise<Transmitted> =
    frozen === undefined
      ? transmitSources({
          wanted: sources,
          accepted: current.accepted,
          held: document.syncStatus === "Synced" ? document.lastHash : undefined,
          now: options.clock.now(),
          send,
        })
      : sentAsIs(current, send);
  const sent = await sending.catch((error: unknown) => {
    options.metrics.synced(tunnelId, "error", took());
    throw error;
  });
  options.metrics.synced(tunnelId, "synced", took());
  options.drift.checked(key.name);
  options.backoff.reset(key.name);
  const { lastError: _, lastReason: __, conflict: ___, ...kept } = document;
  const version = sent.version ?? document.configVersion;
  const at = new Date(options.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const next: ConfigDocument = {
    ...kept,
    tunnelId,
    accountId,
    tunnelName: owner?.status?.tunnelName || document.tunnelName || "",
    credentialsRef: access.stored,
    warpRouting: sent.desired.config["warp-routing"],
    lastHash: sent.desired.hash,
    syncStatus: "Synced",
    lastSyncTime: at,
    ...(version !== undefined && { configVersion: version }),
  };
  const history = grownHistory(current, sent.desired, sent.version, at);
  const held = [...current.held, ...sent.rejected];
  const after = { ...current, ...sent, held, ...(history !== undefined && { history }) };
  await saveOrDelete(after, next);
  tellHeld(after);
  tellSynced(after, version, calls);
  if (Object.keys(sent.sources).length === 0 && collected.owners.length === 0) return forget(key, options);
  return sent.unfinished ? { requeueAfter: UNFINISHED_MS } : options.drift.next(key.name);
}

/** What a tunnel is held at was taken once: there is nothing to leave out of it. */
async function sentAsIs(
  { sources, desired }: Pass,
  send: (desired: Aggregate) => Promise<number>,
): Promise<Transmitted> {
  return { sources, desired, version: await send(desired), rejected: [], unfinished: false };
}

/** What was transmitted, and whether somebody else did so meanwhile (TUN-615, TUN-617). */
function tellSynced(current: Pass, version: number | undefined, calls: number): void {
  const { ctx, desired, stored } = current;
  const { config, hash } = desired;
  const warp = config["warp-routing"].enabled;
  const note = `Tunnel configuration synced (rules=${config.ingress.length - 1}, warp=${warp})`;
  ctx.events.record(target(current), { type: "Normal", reason: "Synced", note, distinct: hash });
  const before = stored.document.configVersion;
  if (before === undefined || version === undefined || version <= before + calls) return;
  const drift = `the configuration in the account was changed by somebody else since version ${before}; it is replaced by version ${version}`;
  ctx.events.record(target(current), {
    type: "Warning",
    reason: "DriftDetected",
    note: drift,
    distinct: drift,
  });
}

/** Keeps what was found; without sources and owners there is nothing to keep (TUN-310). */
async function saveOrDelete(current: Pass, document: ConfigDocument): Promise<void> {
  const { key, ctx, sources, collected, stored } = current;
  if (Object.keys(sources).length === 0 && collected.owners.length === 0) {
    if (stored.object !== undefined) await ctx.client.deleteIfExists(CONFIG_MAP, key);
    return;
  }
  await save(current, document);
}

async function save(current: Pass, document: ConfigDocument): Promise<void> {
  const { key, ctx, options, stored, collected, sources, desired } = current;
  const outcome = { ...desired, rejected: [...desired.rejected, ...current.held] };
  tellOutcome(ctx.events, collected, stored.document, outcome);
  const told = [
    ...unmountedCaPools(sources, mountsCaPool(collected.owners)),
    ...shadowedRules(desired),
    ...openApexes(desired),
  ];
  options.notices.tell(key.name, ctx.events, collected, [...desired.notices, ...told]);
  const { conflicts, rejected } = outcome;
  options.metrics.holds(current.tunnelId, outcome.config.ingress.length - 1, conflicts.length);
  const next = { ...document, sources, conflicts, rejected };
  await saveDocument(
    {
      key,
      client: ctx.client,
      stored,
      owners: collected.owners,
      operatorNamespace: options.operatorNamespace,
      history: current.history,
    },
    next,
  );
}

async function failed(current: Pass, problem: Problem, error: unknown): Promise<Result> {
  const { key, ctx, options, stored } = current;
  const gone = error instanceof ApiError && error.class === "not-found";
  const document = stored.document;
  if (gone) {
    const told = { lastError: problem.message, lastReason: problem.reason };
    await save(current, { ...document, syncStatus: "TunnelDeleted", ...told });
    // The tunnel's own reconcile finds out and gives it a new identifier, or says that it is gone.
    return {};
  }
  // One call too many is no state of the tunnel: it waits.
  if (problem.reason !== "RateLimited") {
    if (document.lastError !== problem.message) {
      const event = {
        type: "Warning",
        reason: problem.event === "ConfigTooLarge" ? problem.event : "SyncFailed",
        note: problem.message,
        distinct: problem.message,
      } as const;
      ctx.events.record(target(current), event);
    }
    // The sources stay those that the API took last: by them it is told what it refuses (TUN-630).
    const unchanged = { ...current, sources: document.sources };
    const told = { lastError: problem.message, lastReason: problem.reason };
    await save(unchanged, { ...document, syncStatus: "Error", ...told });
  }
  const pause = problem.retryAfterMs ?? options.backoff.next(key.name);
  return { requeueAfter: pause };
}

/** Whether the pods of cloudflared have a directory of certificates. */
function mountsCaPool(owners: Pass["collected"]["owners"]): boolean {
  return owners.some(({ spec }) => Boolean(spec?.originCaPool));
}

function forget(key: ObjectKey, { drift, pace, backoff, metrics, notices }: SyncOptions): Result {
  drift.forget(key.name);
  pace.forget(key.name);
  notices.forget(key.name);
  metrics.forget(tunnelOf(key));
  backoff.reset(key.name);
  return {};
}
