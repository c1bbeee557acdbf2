/** Admission of the patches of a DaemonSet, apart from what the API server itself is asked (DSP-334 to 370). */
import { strategicMerge, type TypeTable } from "@quartet/strategic-merge";
import type { LabelSelector, NodePatch, PodTemplate } from "../api.ts";
import { canonicalJson, jsonBytes } from "../desired/canonical.ts";
import { applicationOrder } from "../desired/patch-set.ts";
import { selectorMistakes } from "../desired/selector.ts";
import { isMap, mapsOf } from "../json.ts";
import { overlapWarnings } from "./patch-overlap.ts";
import { mergeViolations, resultViolations } from "./patch-result.ts";
import { shapeViolations } from "./patch-shape.ts";
import { collectFindings, type Findings, joined, type Verdict, type Violation } from "./verdict.ts";

/** Patches of a DaemonSet (KEP; the schema has it, too). */
export const MAX_PATCHES = 10;
/** Bytes of a patch's compact JSON (KEP: 1 KB; D6). */
export const MAX_PATCH_BYTES = 1024;
const INT32 = 2 ** 31;
const ITEM_KEYS = ["selector", "patch", "priority"];
const TYPE = "PodTemplateSpec";

export interface PatchRequest {
  /** As the user wrote it: `spec.patches`, or the decoded annotation. */
  readonly patches: unknown;
  readonly template: PodTemplate;
  readonly selector: LabelSelector | undefined;
  /** Field that the list stands in. */
  readonly path: string;
  readonly table?: TypeTable;
}

/** All that is wrong with the list, in its order, and warnings for what has no effect. */
export function reviewPatches(request: PatchRequest): Verdict {
  const { patches, path } = request;
  const findings = collectFindings();
  if (!Array.isArray(patches)) {
    findings.violation(path, "must be a list");
    return findings.verdict();
  }
  if (patches.length > MAX_PATCHES) {
    findings.violation(path, `has ${patches.length} items: at most ${MAX_PATCHES} are allowed`);
    return findings.verdict();
  }
  const sound = patches.map((item: unknown, index) =>
    reviewItem(item, `${path}[${index}]`, findings, request),
  );
  if (sound.every((isSound) => isSound)) {
    reviewResults(patches as NodePatch[], request, findings);
    for (const text of overlapWarnings(patches as NodePatch[])) findings.warning(`${path}: ${text}`);
  }
  return findings.verdict();
}

/** True for an item whose patch can be applied. */
function reviewItem(item: unknown, path: string, findings: Findings, { table }: PatchRequest): boolean {
  if (!isMap(item)) {
    findings.violation(path, "must be an object with selector, patch and priority");
    return false;
  }
  const before = findings.verdict().violations.length;
  for (const key of Object.keys(item)) {
    if (!ITEM_KEYS.includes(key)) {
      findings.violation(`${path}.${key}`, `unknown field: an item has ${ITEM_KEYS.join(", ")}`);
    }
  }
  reviewSelector(item.selector, `${path}.selector`, findings);
  const { priority = 0 } = item;
  if (!Number.isInteger(priority) || Number(priority) < -INT32 || Number(priority) >= INT32) {
    findings.violation(`${path}.priority`, `must be an integer from ${-INT32} to ${INT32 - 1}`);
  }
  reviewBody(item.patch, `${path}.patch`, findings, table);
  return findings.verdict().violations.length === before;
}

function reviewSelector(selector: unknown, path: string, findings: Findings): void {
  if (selector === undefined || selector === null) {
    findings.violation(path, "must be given; {} selects every node");
    return;
  }
  const mistakes = selectorMistakes(selector);
  for (const mistake of mistakes) findings.violation(`${path}${mistake.path}`, mistake.message);
  const { matchLabels = {}, matchExpressions = [] } = selector as LabelSelector;
  if (mistakes.length === 0 && Object.keys(matchLabels).length + matchExpressions.length === 0) {
    findings.warning(`${path}: matches every node; consider to change the template instead`);
  }
}

function reviewBody(patch: unknown, path: string, findings: Findings, table: TypeTable | undefined): void {
  if (patch === undefined || patch === null) {
    findings.violation(path, "must be given: a strategic merge patch of the pod template");
    return;
  }
  if (!isMap(patch)) {
    findings.violation(path, "must be an object: a strategic merge patch of the pod template");
    return;
  }
  const bytes = jsonBytes(patch);
  if (bytes > MAX_PATCH_BYTES) {
    findings.violation(
      path,
      `is too long: ${bytes} bytes of compact JSON, at most ${MAX_PATCH_BYTES} are allowed`,
    );
    return;
  }
  if (Object.keys(patch).length === 0) findings.warning(`${path}: is empty and has no effect`);
  addBelow(findings, path, shapeViolations(patch, table));
}

/** Each patch on the template alone; what fails there may still work on top of those applied before it (DSP-366). */
function reviewResults(patches: readonly NodePatch[], request: PatchRequest, findings: Findings): void {
  const { template, path } = request;
  let stack = template;
  for (const index of applicationOrder(patches)) {
    const at = `${path}[${index}].patch`;
    const { patch } = patches[index]!;
    const alone = violationsOn(template, template, patch, request);
    const stacked = stack === template ? alone : violationsOn(stack, stack, patch, request);
    if (alone.length > 0 && stacked.length > 0) addBelow(findings, at, alone);
    for (const name of missingDeletions(template, patch)) {
      findings.warning(
        `${at}: $patch: delete of ${name}, which the template does not have, has no effect on it`,
      );
    }
    stack = merged(stack, patch, request.table) ?? stack;
  }
}

function violationsOn(
  before: PodTemplate,
  on: PodTemplate,
  patch: NodePatch["patch"],
  { selector, table }: PatchRequest,
): Violation[] {
  const ambiguous = mergeViolations(on, patch, table);
  if (ambiguous.length > 0) return ambiguous;
  const after = merged(on, patch, table);
  if (after === undefined) return [mergeFailure(on, patch, table)];
  const { spec } = before;
  const known = [...mapsOf(spec?.containers), ...mapsOf(spec?.initContainers)].map(({ name }) =>
    String(name),
  );
  return resultViolations({ before, after, selector, knownContainers: new Set(known) });
}

function merged(
  template: PodTemplate,
  patch: NodePatch["patch"],
  table: TypeTable | undefined,
): PodTemplate | undefined {
  try {
    return strategicMerge(TYPE, template, patch, table);
  } catch {
    return undefined;
  }
}

function mergeFailure(
  template: PodTemplate,
  patch: NodePatch["patch"],
  table: TypeTable | undefined,
): Violation {
  try {
    strategicMerge(TYPE, template, patch, table);
  } catch (error) {
    return { path: "", message: `invalid patch format: ${(error as Error).message}` };
  }
  return { path: "", message: "invalid patch format" };
}

/** Named items of the template's lists that the patch deletes and the template does not have (DSP-365). */
function missingDeletions(template: PodTemplate, patch: NodePatch["patch"]): string[] {
  const spec = isMap(patch.spec) ? patch.spec : {};
  return Object.entries(spec).flatMap(([list, items]) => {
    const present = new Set(mapsOf(template.spec?.[list]).map(({ name }) => name));
    return mapsOf(items)
      .filter(({ $patch, name }) => $patch === "delete" && name !== undefined && !present.has(name))
      .map(({ name }) => `${list} ${canonicalJson(name)}`);
  });
}

function addBelow(findings: Findings, base: string, violations: readonly Violation[]): void {
  for (const { path, message } of violations) findings.violation(joined(base, path), message);
}
