/** What each decision against the peer may change; any other difference is a fault, in such a case too. */
import type { Difference } from "@quartet/testing/replay";

type Facet =
  | "denied"
  | "stored"
  | "others"
  | "service"
  | "endpoint"
  | "template"
  | "claims"
  | "workload"
  | "labels";

/** Decisions that hold for every object; the product's form has them, so they excuse nothing. */
const GENERAL = new Set([
  "D8",
  "D20",
  "D21",
  "D24",
  "D25",
  "TARS-M-017",
  "TARS-M-033",
  "TARS-MAP-055",
  "TARS-MAP-090",
]);

/** Everything that follows from a request that one of the two refuses. */
const ALL: readonly Facet[] = [
  ...([
    "denied",
    "stored",
    "others",
    "service",
    "endpoint",
    "template",
    "claims",
    "workload",
    "labels",
  ] as const),
];

/** Facets by rule, decision or table field. An ID that is not listed is one of a request that only one of them takes. */
const EXCUSED: Readonly<Record<string, readonly Facet[]>> = {
  D9: ["claims"],
  D17: ["labels"],
  "TARS-CV-002": ["stored"],
  "TARS-M-012": ["stored", "workload"],
  "TARS-M-040": ["labels"],
  "TARS-M-046": ["labels"],
  "TARS-M-048": ["stored"],
  "TARS-MAP-023": ["workload", "template", "claims"],
  "TARS-MAP-038": ["template"],
  "TARS-MAP-046": ["template"],
  "TARS-MAP-047": ["template"],
  "TARS-MAP-048": ["template"],
  "TARS-MAP-053": ["template"],
  "TARS-MAP-064": ["template"],
  "TARS-MAP-073": ["claims"],
  "TARS-MAP-083": ["workload"],
  "TARS-MAP-092": ["endpoint"],
  "TARS-R-005": ["service", "workload", "template"],
  "TARS-R-008": ["service", "workload", "template"],
  "TARS-R-020": ["stored", "service", "workload", "template"],
  "TARS-R-030": ["claims", "template", "workload"],
  "TARS-R-051": ["stored", "labels"],
};

/** Rules that are decisions themselves: a case about one differs by it, whatever else it names. */
const DECISIONS: Readonly<Record<string, string>> = { "TARS-V-012": "D7" };

/** What a case names as the product's decisions, and those that follow from its rules. */
export function decisionsOf({
  differs,
  rules,
}: {
  differs: readonly string[];
  rules: readonly string[];
}): string[] {
  return [...differs, ...rules.flatMap((rule) => DECISIONS[rule] ?? [])];
}

/** Decisions of a case beyond those that hold for every object. */
export function ownDecisions(differs: readonly string[]): string[] {
  return differs.filter((id) => !GENERAL.has(id));
}

/** The differences that none of the decisions excuses. */
export function unexcused(found: readonly Difference[], differs: readonly string[]): Difference[] {
  const excused = new Set(ownDecisions(differs).flatMap((id) => EXCUSED[id] ?? ALL));
  return found.filter(({ path }) => !excused.has(facetOf(path)));
}

const FACETS: readonly (readonly [RegExp, Facet])[] = [
  [/^step \d+: denied|^code$/, "denied"],
  [/ metadata\.labels/, "labels"],
  [/^stored /, "stored"],
  [/^(PersistentVolumeClaim\/|\w+\/\S+ spec\.volumeClaimTemplates)/, "claims"],
  [/^Service\//, "service"],
  [/^(TEndpoint|TExitedRecord)\//, "endpoint"],
  [/^\w+Set\/\S+ spec\.template/, "template"],
  [/^\w+Set\//, "workload"],
];

function facetOf(path: string): Facet {
  return FACETS.find(([pattern]) => pattern.test(path))?.[1] ?? "others";
}
