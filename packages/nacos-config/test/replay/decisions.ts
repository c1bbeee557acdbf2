/** What each decision against the peer may change: any other difference is a fault, in such a case too. */
import type { Difference } from "@quartet/testing/replay";

/** Parts of a case's outcome. */
type Facet =
  | "children"
  | "changes"
  | "config"
  | "env"
  | "labels"
  | "replicas"
  | "service"
  | "step"
  | "storage"
  | "template";

/** Decisions that hold for every object; the product's form has them, so they excuse nothing. */
const GENERAL = new Set([
  ...["NACOS-401", "NACOS-402", "NACOS-405", "NACOS-312", "D11", "D12"],
  ...["NACOS-501", "NACOS-502", "NACOS-503", "NACOS-504", "NACOS-505", "NACOS-507"],
]);

const CONTENT: readonly Facet[] = ["config", "changes", "children", "storage"];

/** Facets by rule or decision. None: only status and events differ. An ID that is not listed may change anything. */
const EXCUSED: Readonly<Record<string, readonly Facet[]>> = {
  "NACOS-106": ["replicas", "changes", "env"],
  "NACOS-112": CONTENT,
  "NACOS-317": [],
  "NACOS-319": [
    "config",
    "changes",
    "children",
    "storage",
    "template",
    "env",
    "labels",
    "replicas",
    "service",
  ],
  "NACOS-328": [],
  "NACOS-340": ["changes", "children", "storage"],
  "NACOS-342": ["changes", "children", "storage"],
  "NACOS-344": ["changes", "children", "storage"],
  "NACOS-404": ["labels", "service"],
  "NACOS-406": ["changes", "template", "env", "storage"],
  "NACOS-408": ["changes", "labels"],
  "NACOS-417": ["labels"],
  "NACOS-420": ["env"],
  "NACOS-424": ["env"],
  "NACOS-427": ["env"],
  "NACOS-428": ["env"],
  "NACOS-442": ["template"],
  "NACOS-443": ["template"],
  "NACOS-445": ["template"],
  "NACOS-603": [],
  "NACOS-606": ["changes", "storage"],
  "NACOS-706": ["children", "config", "template", "env", "storage"],
  "NACOS-707": ["children", "config", "template", "env", "storage"],
  "NACOS-805": ["children", "config", "env"],
  D8: [],
  D9: ["config", "changes", "children", "storage", "template", "env", "labels", "replicas", "service"],
  D10: ["changes", "template", "env", "storage"],
  D18: ["changes", "storage"],
  D19: ["env"],
  D29: CONTENT,
};

/** Decisions of a case beyond those that hold for every object. */
export function ownDecisions(differs: readonly string[]): string[] {
  return differs.filter((id) => !GENERAL.has(id));
}

/** The differences that none of the decisions excuses. */
export function unexcused(found: readonly Difference[], differs: readonly string[]): Difference[] {
  const own = ownDecisions(differs);
  if (own.some((id) => EXCUSED[id] === undefined)) return [];
  const excused = new Set(own.flatMap((id) => EXCUSED[id] ?? []));
  return found.filter(({ path }) => !excused.has(facetOf(path)));
}

const FACETS: readonly (readonly [RegExp, Facet])[] = [
  [/^after step \d+: (digest|configDigest)$/, "config"],
  [/^after step \d+: replicas$/, "replicas"],
  [/^after step \d+: (the API server|refused)/, "step"],
  [/^after step \d+: statefulSet$/, "children"],
  [/^after step /, "changes"],
  [/^\w+\/\S+$|^Job\//, "children"],
  [/^(ConfigMap|Secret)\/\S+ (data|immutable|type)/, "config"],
  [/\[nacos\.io\/config-digest\]$/, "config"],
  [/ metadata\.|\.metadata\.(labels|annotations)|\.selector\b/, "labels"],
  [/^Service\//, "service"],
  [/\.env(\[|$)/, "env"],
  [/\.(volumes|volumeMounts|volumeClaimTemplates|persistentVolumeClaimRetentionPolicy)(\[|\.|$)/, "storage"],
  [/ spec\.replicas$/, "replicas"],
];

function facetOf(path: string): Facet {
  return FACETS.find(([pattern]) => pattern.test(path))?.[1] ?? "template";
}
