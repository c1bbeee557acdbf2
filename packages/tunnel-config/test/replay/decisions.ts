/** What each decision against the peer may change; any other difference is a fault, in such a case too. */
import type { Difference } from "@quartet/testing/replay";
import type { TunnelCase } from "./format.ts";

/** Parts of what is compared: the configuration in the account, the ConfigMap, the zone and so on. */
type Facet = "remote" | "document" | "dns" | "status" | "objects" | "denied" | "calls" | "events";

/** Decisions that hold for every object; the product's form has them, so they excuse nothing. */
const GENERAL = new Set(["D1", "D8", "D16", "D23", "D24", "TUN-609", "TUN-611", "TUN-801", "TUN-905"]);

const ALL: readonly Facet[] = ["remote", "document", "dns", "status", "objects", "denied", "calls", "events"];
/** Everything that follows from other rules. */
const ROUTING: readonly Facet[] = ["remote", "document"];
/** Everything that follows from a record that is made, kept or named otherwise. */
const RECORDS: readonly Facet[] = ["dns", "status", "objects", "calls", "events"];

/** Facets by rule or decision; an ID that is not listed may change everything. */
const EXCUSED: Readonly<Record<string, readonly Facet[]>> = {
  D2: ROUTING,
  D3: ROUTING,
  D4: [...ROUTING, "status", "events"],
  D5: ["document"],
  D6: [...ROUTING, "dns", "calls"],
  D7: ROUTING,
  D9: ROUTING,
  D13: RECORDS,
  D17: ROUTING,
  D18: ROUTING,
  "TUN-233": ["status", "objects", "events"],
  "TUN-421": ["dns", "objects", "calls", "events"],
  "TUN-415": ["status", "events"],
  "TUN-416": ROUTING,
  "TUN-455": ROUTING,
  "TUN-458": [...ROUTING, "events"],
  "TUN-460": ROUTING,
  "TUN-461": ROUTING,
  "TUN-462": ROUTING,
  "TUN-465": ROUTING,
  "TUN-467": [...ROUTING, "events"],
  "TUN-716": ROUTING,
  "TUN-474": ["dns", "objects", "calls"],
  "TUN-806": RECORDS,
  "TUN-911": RECORDS,
  "TUN-924": RECORDS,
  "TUN-925": ["dns", "status", "events", "calls"],
  "TUN-808": RECORDS,
};

/** Decisions of a case beyond those that hold for every object. */
export function ownDecisions({ differs, steps }: Decided): string[] {
  return differs.filter((id) => !GENERAL.has(id) && (id !== "D7" || endsBinding(steps)));
}

/** Each TunnelBinding of the peer holds the rules of all, so that those of one that is gone stay (D7). */
function endsBinding(steps: TunnelCase["steps"]): boolean {
  return steps.some(({ op, object }) => op === "delete" && object?.kind === "TunnelBinding");
}

type Decided = Pick<TunnelCase, "differs" | "steps">;

/** The differences that none of the decisions excuses. */
export function unexcused(found: readonly Difference[], row: Decided): Difference[] {
  const excused = new Set<string>(ownDecisions(row).flatMap((id) => EXCUSED[id] ?? ALL));
  return found.filter(({ path }) => !excused.has(facetOf(path)));
}

/** The first word of a path, after the step that it may begin with. */
function facetOf(path: string): string {
  return path.replace(/^step \d+: /, "").split(/[ .[]/, 1)[0] ?? "";
}
