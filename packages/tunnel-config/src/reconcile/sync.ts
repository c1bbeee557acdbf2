/**
 * The configuration of one tunnel: gathers what the objects of the cluster contribute, transmits it when it differs from
 * what was transmitted last, and keeps both in the tunnel's ConfigMap. One pass is at work on a tunnel at a time, and it
 * alone writes the ConfigMap: nothing is lost between writers (section 6).
 */
import type { ObjectKey, Reconcile, ReconcileContext, Result } from "@quartet/core";
import { CONFIG_MAP } from "@quartet/core/kinds";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import { shareOut } from "../desired/share.ts";
import { type ClaimWait, createClaimWait } from "./claim-wait.ts";
import { collect } from "./collect.ts";
import { createHostLimits } from "./host-limits.ts";
import { type Problem, problemOf } from "./problem.ts";
import { holdBack } from "./quarantine.ts";
import { heldBack } from "./rollback.ts";
import { acceptedSources, nextSources } from "./sources.ts";
import { forget, type Pass, type SyncOptions, target, tunnelOf } from "./sync-pass.ts";
import { save, unsent } from "./sync-save.ts";
import { configsOf, readStored } from "./sync-stored.ts";
import { transmit } from "./sync-transmit.ts";
import { readWorld } from "./world.ts";

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
  const allowed = holdBack(wanted, accepted, document.rejected, now);
  const { sources, desired, rejected } = shareOut(document, allowed.sources, accepted, allowed.rejected);
  const held = [...allowed.rejected, ...rejected];
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
    const told = { lastError: problem.message, lastReason: problem.reason };
    await save(unsent(current), { ...document, syncStatus: "Error", ...told });
  }
  const pause = problem.retryAfterMs ?? options.backoff.next(key.name);
  return { requeueAfter: pause };
}
