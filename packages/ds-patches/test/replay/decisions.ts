/** What each decision against the peer may change; any other difference is a fault, in such a case too. */
import type { Difference } from "@quartet/testing/replay";

type Facet = "pods" | "status" | "error" | "object" | "exactPods" | "revisions" | "events";

const ALL: readonly Facet[] = ["pods", "status", "error", "object", "exactPods", "revisions", "events"];
const ROLLOUT: readonly Facet[] = ["pods", "status", "exactPods", "events"];

/** Decisions about the form of an answer, which the comparison knows: they excuse nothing. */
const GENERAL: ReadonlySet<string> = new Set(["D31", "DSP-204"]);

/** Facets by rule or decision. An ID that is not listed may change anything. */
const EXCUSED: Readonly<Record<string, readonly Facet[]>> = {
  D18: ["error", "object", "status", "revisions", "pods"],
  D24: ROLLOUT,
  D25: ROLLOUT,
  D26: ROLLOUT,
  D28: ROLLOUT,
  "DSP-704": ROLLOUT,
  "DSP-710": ["status"],
  "DSP-728": ROLLOUT,
  "DSP-733": ROLLOUT,
  "DSP-803": ROLLOUT,
  "DSP-807": ROLLOUT,
};

const ID = /\b(?:DSP-[0-9]+|D[0-9]+)\b/g;

/** Decisions that a case names, without those that the comparison knows; one that names none may change anything. */
export function decisionsOf({ differs }: { readonly differs: string }): readonly string[] {
  if (differs === "") return [];
  const named = differs.match(ID) ?? ["unnamed"];
  return named.filter((id) => !GENERAL.has(id));
}

/** The differences that none of the decisions excuses. */
export function unexcused(found: readonly Difference[], decisions: readonly string[]): Difference[] {
  const excused = new Set(decisions.flatMap((id) => EXCUSED[id] ?? ALL));
  return found.filter(({ path }) => !excused.has(facetOf(path)));
}

const FACETS: readonly (readonly [RegExp, Facet])[] = [
  [/^step \d+ (status|generation)/, "status"],
  [/^step \d+ error/, "error"],
  [/^step \d+ object/, "object"],
  [/^pod /, "exactPods"],
  [/^revisions/, "revisions"],
  [/^events/, "events"],
];

function facetOf(path: string): Facet {
  return FACETS.find(([pattern]) => pattern.test(path))?.[1] ?? "pods";
}
