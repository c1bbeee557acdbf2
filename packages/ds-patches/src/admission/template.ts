/** Admission of a pod template as such: what the API server says of it, told at the template's own fields. */
import type { TypeTable } from "@quartet/strategic-merge";
import type { PodTemplate } from "../api.ts";
import { mapOf } from "../json.ts";
import type { Judge, Judgement } from "./dry-run.ts";
import { fieldViolations } from "./schema.ts";
import { collectFindings, type Verdict, type Violation } from "./verdict.ts";

/** Members of a template's metadata that become nothing of a pod. */
const WITHOUT_EFFECT = ["name", "namespace", "generateName", "ownerReferences"];

export interface TemplateReview {
  readonly template: PodTemplate;
  readonly judge: Judge;
  readonly table?: TypeTable;
}

/** Problems of the template, at paths of its own (DSP-319, 320, 324). */
export async function reviewTemplate({ template, judge, table }: TemplateReview): Promise<Verdict> {
  const findings = collectFindings();
  const judgement = await judge(template);
  if (judgement.kind !== "undecided") for (const text of judgement.warnings) findings.warning(text);
  for (const one of templateViolations(template, judgement, table)) {
    findings.violation(one.path, one.message, one.reason);
  }
  if (judgement.kind === "undecided") {
    findings.warning(`full validation was skipped: ${judgement.reason}`);
    for (const { path, message } of fieldViolations(template, table)) {
      if (message.startsWith("unknown field")) findings.warning(`${path}: ${message}`);
    }
  }
  for (const name of WITHOUT_EFFECT.filter((key) => mapOf(template.metadata)[key] !== undefined)) {
    findings.warning(`metadata.${name}: has no effect on the pods`);
  }
  return findings.verdict();
}

/**
 * The verdict of the API server where there is one. What cannot be decoded it tells without a place, or only the first
 * mistake: the own walk over the schema tells all, at their places.
 */
function templateViolations(
  template: PodTemplate,
  judgement: Judgement,
  table: TypeTable | undefined,
): readonly Violation[] {
  const local = finalizerViolations(template);
  switch (judgement.kind) {
    case "valid":
      return local;
    case "undecided":
      return [
        ...local,
        ...fieldViolations(template, table).filter(({ message }) => !message.startsWith("unknown field")),
      ];
    default:
      return [...local, ...explained(template, judgement.violations, table)];
  }
}

/** Violations of the server without a cause in their place: those of the own walk, unless it sees none. */
export function explained(
  template: PodTemplate,
  violations: readonly Violation[],
  table: TypeTable | undefined,
): readonly Violation[] {
  if (violations.some(({ reason }) => reason !== undefined)) return violations;
  const own = fieldViolations(template, table);
  const duplicates = violations.filter(({ message }) => message === "duplicate field");
  return own.length === 0 ? violations : [...own, ...duplicates];
}

/** A finalizer without a domain is refused when the pod is created, by which time nobody is there to be told. */
function finalizerViolations({ metadata }: PodTemplate): Violation[] {
  const { finalizers } = mapOf(metadata);
  if (!Array.isArray(finalizers)) return [];
  return finalizers.flatMap((name: unknown, index) =>
    typeof name === "string" && /^[^/\s]+\/[^/\s]+$/.test(name)
      ? []
      : [
          {
            path: `metadata.finalizers[${index}]`,
            message: `${JSON.stringify(name)} is no name of a finalizer: write <domain>/<name>`,
          },
        ],
  );
}
