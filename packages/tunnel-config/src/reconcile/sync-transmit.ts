/** Transmits the configuration of a tunnel, when it is another one or what the account holds is. */
import type { Result } from "@quartet/core";
import { ApiError } from "../cloudflare/errors.ts";
import type { Aggregate } from "../desired/aggregate.ts";
import { connectorState } from "../desired/connectors.ts";
import type { ConfigDocument } from "../desired/document.ts";
import type { Access } from "./access.ts";
import { nextTry, type Transmitted, transmitSources } from "./quarantine.ts";
import { grownHistory, tellHeld } from "./rollback.ts";
import { accessFor, forget, type Pass, target } from "./sync-pass.ts";
import { assertRemote, driftOf, keepForeign, reportsDrift } from "./sync-remote.ts";
import { save, saveOrDelete, unsent } from "./sync-save.ts";
import { assertFits } from "./sync-size.ts";

/** Shortest time until the next look, in milliseconds. */
const LEAST_MS = 1_000;

/** One transmission, or a look at what the account holds when that is due. Obstacles are thrown. */
export async function transmit(current: Pass): Promise<Result> {
  const { key, ctx, options, tunnelId, stored, collected, desired, sources, frozen } = current;
  const { frozen: _frozen, ...free } = stored.document;
  const document: ConfigDocument = frozen === undefined ? free : { ...free, frozen };
  const settled =
    document.syncStatus === "Synced" && document.lastHash === desired.hash && stored.broken === undefined;
  const due = options.drift.due(key.name);
  if (settled && !due) {
    await saveOrDelete(current, document);
    tellHeld(current);
    return nextLook(current);
  }
  const wait = settled ? 0 : options.pace.wait(key.name, desired.hash);
  if (wait > 0) return { requeueAfter: wait };
  const { conflicts } = desired;
  if (!settled)
    assertFits({ ...document, sources, conflicts, rejected: [...desired.rejected, ...current.held] });
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
      const leaves = drift?.overwrite === false;
      if (leaves && !settled) {
        await save(unsent(current), { ...stored.document, conflict: drift.conflict });
        return nextLook(current);
      }
      if (settled && (leaves || drift === undefined)) {
        const { conflict: _, ...calm } = document;
        const more = leaves
          ? { conflict: drift.conflict }
          : await seenConnectors(access, accountId, remote.version, current);
        await saveOrDelete(current, { ...calm, ...more });
        return nextLook(current);
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
  return nextLook(after);
}

/** When to come back: to compare, or to try again what is held back. */
function nextLook({ key, options, held }: Pass): Result {
  const { requeueAfter = Number.POSITIVE_INFINITY } = options.drift.next(key.name);
  const soonest = Math.min(requeueAfter, nextTry(held, options.clock.now()) ?? requeueAfter);
  return Number.isFinite(soonest) ? { requeueAfter: Math.max(LEAST_MS, soonest) } : {};
}

/** What the connectors have, as far as that can be told now: the configuration does not depend on it (TUN-642). */
async function seenConnectors(
  { api }: Access,
  accountId: string,
  version: number,
  { tunnelId, ctx }: Pass,
): Promise<Pick<ConfigDocument, "connectors">> {
  try {
    return { connectors: connectorState(await api.connectors(accountId, tunnelId), version) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.log.debug("the connectors of a tunnel could not be read", { tunnelId, error });
    return {};
  }
}

/** What a tunnel is held at was taken once: there is nothing to leave out of it. */
async function sentAsIs(
  { sources, desired }: Pass,
  send: (desired: Aggregate) => Promise<number>,
): Promise<Transmitted> {
  return { sources, desired, version: await send(desired), rejected: [] };
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
