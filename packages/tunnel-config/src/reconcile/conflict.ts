/** Somebody else's counterpart. */
import type { Owner } from "../desired/marker.ts";
import { ownerText } from "../desired/marker.ts";
import { Problem } from "./problem.ts";

/** Time after which somebody else's counterpart is looked at again, in milliseconds (TUN-807). */
const CONFLICT_MS = 300_000;

export class ConflictProblem extends Problem {
  /** Who must go first, as far as it is known. */
  readonly owner: string | undefined;
  constructor(message: string, owner?: Owner) {
    super("AdoptionConflict", message, { retryAfterMs: CONFLICT_MS });
    this.owner = owner === undefined ? undefined : ownerText(owner);
  }
}
