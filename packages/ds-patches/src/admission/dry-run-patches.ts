/** Patched templates judged by the API server (DSP-366, 367). */
import { strategicMerge, type TypeTable } from "@quartet/strategic-merge";
import type { NodePatch, PodTemplate } from "../api.ts";
import { applicationOrder } from "../desired/patch-set.ts";
import type { Judge, Judgement } from "./dry-run.ts";
import { explained } from "./template.ts";
import { collectFindings, joined, type Verdict } from "./verdict.ts";

const TYPE = "PodTemplateSpec";

export interface PatchedReview {
  /** Patches that are sound in themselves, and whose results are. */
  readonly patches: readonly NodePatch[];
  readonly template: PodTemplate;
  /** Field that the list stands in. */
  readonly path: string;
  readonly judge: Judge;
  readonly table?: TypeTable;
}

/**
 * Each patch alone on the template, and where that fails on top of those applied before it: a patch is refused that is
 * wrong in both. All of them together may be wrong, since no node need match them all; that is a warning. A template that
 * is wrong by itself says nothing of its patches.
 */
export async function reviewPatched(review: PatchedReview): Promise<Verdict> {
  const { patches, template, path, judge, table } = review;
  const findings = collectFindings();
  const own = await judge(template);
  if (own.kind !== "valid") return findings.verdict();
  const order = applicationOrder(patches);
  const stacks = stacked(template, order, patches, table);
  const judged = await Promise.all(
    order.map(async (index, place) => {
      const alone = merged(template, patches[index]!, table);
      const first = await judge(alone);
      const second = first.kind === "invalid" && place > 0 ? await judge(stacks[place]!) : first;
      return { index, alone, first, second };
    }),
  );
  for (const { index, alone, first, second } of judged) {
    const at = `${path}[${index}].patch`;
    if (first.kind === "invalid" && second.kind === "invalid") {
      for (const one of explained(alone, first.violations, table)) {
        findings.violation(joined(at, one.path), one.message, one.reason);
      }
    }
    for (const text of newWarnings(first, own)) findings.warning(joined(at, text));
  }
  const skipped = judged.find(({ first }) => first.kind === "undecided")?.first;
  if (skipped?.kind === "undecided") {
    findings.warning(`${path}: full validation was skipped: ${skipped.reason}`);
  }
  if (findings.verdict().violations.length === 0 && order.length > 1) {
    const all = await judge(stacks.at(-1)!);
    if (all.kind === "invalid") {
      const [{ path: where, message } = { path: "", message: "" }] = all.violations;
      findings.warning(
        `${path}: a node that all patches match would get no pod: ${joined(where, "")}: ${message}`,
      );
    }
  }
  return findings.verdict();
}

/** The template with the first patches of the order applied, one more each time. */
function stacked(
  template: PodTemplate,
  order: readonly number[],
  patches: readonly NodePatch[],
  table: TypeTable | undefined,
): PodTemplate[] {
  let stack = template;
  return order.map((index) => {
    stack = merged(stack, patches[index]!, table);
    return stack;
  });
}

/** What cannot be merged is told elsewhere, and left out here. */
function merged(template: PodTemplate, { patch }: NodePatch, table: TypeTable | undefined): PodTemplate {
  try {
    return strategicMerge(TYPE, template, patch, table);
  } catch {
    return template;
  }
}

function newWarnings(judgement: Judgement, own: Judgement): string[] {
  if (judgement.kind !== "valid" || own.kind !== "valid") return [];
  return judgement.warnings.filter((text) => !own.warnings.includes(text));
}
