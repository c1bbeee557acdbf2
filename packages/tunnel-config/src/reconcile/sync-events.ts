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
    const { source, hostname, path, reason, fragment, cause = "RuleRejected" } = rejection;
    const what =
      fragment === undefined
        ? `${`${hostname}${path}` === "" ? "a rule" : `rule ${hostname}${path}`} is left out`
        : "the API refuses its rules; those that it took last stay";
    tell(source, "Warning", cause, `${what}: ${reason}`);
  }
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
