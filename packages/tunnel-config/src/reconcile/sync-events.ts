/** Tells the owners of sources what became of their rules (TUN-622, TUN-623, TUN-637). */
import type { EventRecorder } from "@quartet/core";
import type { Aggregate } from "../desired/aggregate.ts";
import type { ConfigDocument, Conflict, Rejection } from "../desired/document.ts";
import type { Collected } from "./collect.ts";

/** Records what is new against the stored document; what was told before a restart is not told again. */
export function tellOutcome(
  events: EventRecorder,
  { contributors }: Collected,
  stored: ConfigDocument,
  next: Aggregate,
): void {
  const tell = (source: string, type: "Normal" | "Warning", reason: string, note: string): void => {
    const object = contributors.get(source)?.object;
    if (object !== undefined) events.record(object, { type, reason, note, distinct: note });
  };
  const before = claims(stored.conflicts);
  const after = claims(next.conflicts);
  for (const [id, { loser, where, winner }] of after) {
    if (!before.has(id))
      tell(loser, "Warning", "RuleConflict", `rule ${where} is already served by ${winner}`);
  }
  const stillLost = new Set([...after.values()].map(({ loser, where }) => `${loser} ${where}`));
  for (const { loser, where } of before.values()) {
    if (!stillLost.has(`${loser} ${where}`))
      tell(loser, "Normal", "RuleConflictResolved", `rule ${where} is served`);
  }
  const rejectedBefore = new Set((stored.rejected ?? []).map(textOf));
  for (const rejection of next.rejected) {
    if (rejectedBefore.has(textOf(rejection))) continue;
    const { source, reason, cause = "RuleRejected" } = rejection;
    const what = whatOf(rejection);
    tell(source, "Warning", cause, `${what}: ${reason}`);
  }
}

/** Tells the owner of the tunnel of namespaces that its ConfigMap has no room for (TUN-319), each once. */
export function tellRoom(
  events: EventRecorder,
  about: Parameters<EventRecorder["record"]>[0],
  stored: ConfigDocument,
  rejected: readonly Rejection[],
): void {
  const reasons = (all: readonly Rejection[]): Set<string> =>
    new Set(all.filter(({ cause }) => cause === "ConfigTooLarge").map(({ reason }) => reason));
  const before = reasons(stored.rejected ?? []);
  for (const note of reasons(rejected)) {
    if (!before.has(note))
      events.record(about, { type: "Warning", reason: "ConfigTooLarge", note, distinct: note });
  }
}

function whatOf({ hostname, path, fragment, cause }: Rejection): string {
  if (fragment !== undefined) return "the API refuses its rules; those that it took last stay";
  if (cause === "ConfigTooLarge") return "its rules stay as they are served, if they are";
  const rule = `${hostname}${path}`;
  return `${rule === "" ? "a rule" : `rule ${rule}`} is left out`;
}

interface Claim {
  readonly loser: string;
  readonly where: string;
  readonly winner: string;
}

function claims(conflicts: readonly Conflict[] = []): Map<string, Claim> {
  return new Map(
    conflicts.flatMap(({ hostname, path, winner, losers }) =>
      losers.map((loser): [string, Claim] => {
        const claim = { loser, where: `${hostname}${path}`, winner };
        return [JSON.stringify(claim), claim];
      }),
    ),
  );
}

function textOf({ source, hostname, path, reason }: Rejection): string {
  return JSON.stringify([source, hostname, path, reason]);
}
