/** Holds a tunnel at a configuration that was transmitted before, as long as an annotation says so (TUN-661 to TUN-663). */
import { type Condition, findCondition } from "@quartet/core";
import { ANNOTATIONS, HISTORY_KEY } from "../constants.ts";
import { type Aggregate, aggregate, hostnamesOf } from "../desired/aggregate.ts";
import type { ConfigDocument, HistoryEntry } from "../desired/document.ts";
import { configOf, historyEntry, parseHistory, withEntry } from "../desired/history.ts";
import { refOf, refText } from "../desired/targets.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import type { Wanted } from "./conditions.ts";
import { Problem } from "./problem.ts";
import { type Pass, target } from "./sync-pass.ts";

/** The pass with the configuration that the tunnel is to be held at; the same one when none is asked for. */
export function heldBack(current: Pass): Pass {
  const { collected, stored } = current;
  const asking = collected.owners.find((owner) => versionOf(owner) !== undefined);
  if (asking === undefined) return current;
  const { document } = stored;
  const history = parseHistory(stored.object?.data?.[HISTORY_KEY]);
  // A tunnel that was never configured, as one that was made anew, has nothing to be held at.
  if (history.length === 0 && document.configVersion === undefined) return current;
  const frozen = entryOf(asking, document, history);
  const config = configOf(frozen);
  if (config === undefined)
    throw problem(asking, `version ${frozen.version} cannot be read any more; ${remedy(history, frozen)}`);
  const { conflicts = [], rejected = [], sources } = document;
  const outcome = { conflicts, rejected, notices: [], owners: [] };
  const desired = { config, hash: frozen.hash, hostnames: hostnamesOf(config.ingress), ...outcome };
  // What the objects ask for waits: the sources stay those of the last transmission (TUN-661).
  return { ...current, frozen, desired, sources, accepted: sources, held: [] };
}

/**
 * The history with what was transmitted now; what is sent to hold the tunnel back is in it already. Where nothing is kept
 * yet what was transmitted before comes first: an older release has kept nothing.
 */
export function grownHistory(
  { stored, frozen }: Pass,
  { config }: Pick<Aggregate, "config">,
  version: number | undefined,
  at: string,
): readonly HistoryEntry[] | undefined {
  if (frozen !== undefined || version === undefined) return undefined;
  const { configVersion, lastHash, lastSyncTime = "", sources } = stored.document;
  const known = parseHistory(stored.object?.data?.[HISTORY_KEY]);
  const before = known.length === 0 && configVersion !== undefined ? aggregate(sources) : undefined;
  const first =
    before !== undefined && before.hash === lastHash
      ? [historyEntry(before.config, configVersion ?? 0, lastSyncTime)]
      : known;
  return withEntry(first, historyEntry(config, version, at));
}

/** That the tunnel is held from now on, by an event. */
export function tellHeld(current: Pass): void {
  const { ctx, frozen, stored } = current;
  if (frozen === undefined || stored.document.frozen?.version === frozen.version) return;
  const note = heldText(frozen);
  ctx.events.record(target(current), { type: "Normal", reason: "RolledBack", note, distinct: note });
}

/** That the tunnel is held, and once it was, that it is no longer. */
export function rolledBackOf(tunnel: Cached<AnyTunnel>, document: ConfigDocument | undefined): Wanted[] {
  const type = "RolledBack";
  if (document?.frozen !== undefined)
    return [{ type, on: true, reason: "Held", message: heldText(document.frozen) }];
  const told = findCondition(tunnel.status?.conditions as Condition[] | undefined, type) !== undefined;
  return told ? [{ type, on: false, reason: "Released" }] : [];
}

/** What holds, in words. */
export function heldText({ version, at }: Pick<HistoryEntry, "version" | "at">): string {
  return `the account holds the configuration of version ${version}, of ${at}; changes wait until the annotation ${ANNOTATIONS.rollback} is removed`;
}

function versionOf({ metadata }: Cached<AnyTunnel>): string | undefined {
  return metadata.annotations?.[ANNOTATIONS.rollback];
}

function entryOf(
  asking: Cached<AnyTunnel>,
  { frozen }: ConfigDocument,
  history: readonly HistoryEntry[],
): HistoryEntry {
  const known = frozen === undefined ? history : [...history, frozen];
  const asked = versionOf(asking) ?? "";
  const entry = known.find(({ version }) => String(version) === asked.trim());
  if (entry === undefined) throw problem(asking, `is no version that is kept; ${remedy(known)}`);
  return entry;
}

function remedy(history: readonly HistoryEntry[], except?: HistoryEntry): string {
  const others = new Set(history.map(({ version }) => version).filter((one) => one !== except?.version));
  const kept = [...others].sort((a, b) => b - a).join(", ");
  return kept === ""
    ? "none is kept: remove the annotation"
    : `name one of ${kept}, or remove the annotation`;
}

function problem(asking: Cached<AnyTunnel>, text: string): Problem {
  const value = JSON.stringify((versionOf(asking) ?? "").slice(0, 40));
  const where = `metadata.annotations["${ANNOTATIONS.rollback}"]: ${value} of ${refText(refOf(asking))}`;
  return new Problem("InvalidRollback", `${where}: ${text}; nothing is transmitted until then`);
}
