/** Admission of a whole DaemonSet: its spec, its template, its patches, and what the API server says of them. */
import type { DeepReadonly } from "@quartet/core";
import type { NodePatch } from "../api.ts";
import { canonicalJson } from "../desired/canonical.ts";
import { PATCHES } from "../desired/keys.ts";
import { annotatedPatches, patchSource } from "../desired/patch-source.ts";
import type { DaemonSet } from "../kinds.ts";
import { advice, type Circumstances, replacedLists } from "./advice.ts";
import { specViolations, updateViolations } from "./daemon-set.ts";
import type { Judge } from "./dry-run.ts";
import { reviewPatched } from "./dry-run-patches.ts";
import { reviewPatches } from "./patches.ts";
import { strippedNulls } from "./stripped-nulls.ts";
import { reviewTemplate } from "./template.ts";
import { below, type Verdict } from "./verdict.ts";

const TEMPLATE = "spec.template";
const NO_SOURCE = { path: "", problem: undefined };

export interface ReviewOptions extends Circumstances {
  readonly judge: Judge;
}

/**
 * All that is wrong, ordered by path (DSP-321). Of an update only what it changes is judged; spec and template are
 * OpenKruise's affair in companion mode.
 */
export async function review(
  daemonSet: DeepReadonly<DaemonSet>,
  old: DeepReadonly<DaemonSet> | undefined,
  { judge, ...circumstances }: ReviewOptions,
): Promise<Verdict> {
  const { mode } = circumstances;
  const { spec } = daemonSet as DaemonSet;
  const verdicts: Verdict[] = [];
  if (mode === "owner") {
    verdicts.push({
      violations: [...specViolations(daemonSet), ...(old ? updateViolations(daemonSet, old) : [])],
      warnings: strippedNulls(daemonSet),
    });
    if (differs(spec.template, old?.spec.template)) {
      verdicts.push(below(TEMPLATE, await reviewTemplate({ template: spec.template, judge })));
    }
  }
  verdicts.push(await patchesVerdict(daemonSet, old, { mode, judge }));
  const violations = verdicts.flatMap((one) => one.violations);
  const distinct = new Map(violations.map((one) => [`${one.path} ${one.message}`, one]));
  return {
    violations: [...distinct.values()].sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path))),
    warnings: [...new Set([...verdicts.flatMap((one) => one.warnings), ...advice(daemonSet, circumstances)])],
  };
}

/** Patches and template belong together: a change of either may break the other (DSP-330, 332). */
async function patchesVerdict(
  daemonSet: DeepReadonly<DaemonSet>,
  old: DeepReadonly<DaemonSet> | undefined,
  { mode, judge }: Pick<ReviewOptions, "mode" | "judge">,
): Promise<Verdict> {
  const { patches, path, problem } = patchSource(daemonSet, mode);
  const before = old && patchSource(old, mode);
  const { template, selector } = daemonSet.spec as DaemonSet["spec"];
  const isNew =
    before === undefined ||
    before.problem !== problem ||
    differs([patches, template], [before.patches, old?.spec.template]);
  if (!isNew) return { violations: [], warnings: [] };
  if (problem !== undefined) return { violations: [{ path, message: problem }], warnings: [] };
  if (Array.isArray(patches) && patches.length === 0) return annotationVerdict(daemonSet, old);
  const local = reviewPatches({ patches, template, selector, path });
  if (local.violations.length > 0) return local;
  const lost = mode === "companion" ? replacedLists(patches as NodePatch[], path) : [];
  if (lost.length > 0) return { violations: lost, warnings: local.warnings };
  const judged = await reviewPatched({ patches: patches as NodePatch[], template, path, judge });
  return {
    violations: judged.violations,
    warnings: [...local.warnings, ...judged.warnings],
  };
}

/** An annotation that is not read now, and would be wrong when it is (DSP-334). */
function annotationVerdict(
  { metadata }: DeepReadonly<DaemonSet>,
  old: DeepReadonly<DaemonSet> | undefined,
): Verdict {
  const annotation = metadata.annotations?.[PATCHES];
  const isNew = annotation !== old?.metadata.annotations?.[PATCHES];
  const { path, problem } = annotation === undefined || !isNew ? NO_SOURCE : annotatedPatches(annotation);
  return { violations: problem === undefined ? [] : [{ path, message: problem }], warnings: [] };
}

function differs(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) !== canonicalJson(b ?? null);
}
