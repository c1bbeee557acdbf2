/** Recorded revisions of Kruise: the bytes of their data, by the template that the DaemonSet has stored (DSP-605). */
import type { PodTemplate } from "../../src/api.ts";
import { baseData, isSameTemplate, readRevision } from "../../src/desired/revision-data.ts";

export interface RevisionCase {
  readonly name: string;
  readonly template: PodTemplate;
  readonly stored: PodTemplate;
  readonly data: string;
}

/** What is wrong with our bytes, or nothing. */
export function revisionDifference({ template, stored, data }: RevisionCase): string | undefined {
  const ours = baseData(stored);
  if (ours !== data) return `expected ${data}\n  got      ${ours}`;
  const read = readRevision(JSON.parse(data));
  if (read === undefined || !isSameTemplate(read.template, stored))
    return "the revision is not taken for its template";
  return isSameTemplate(read.template, {
    ...template,
    metadata: { ...template.metadata, labels: { a: "b" } },
  })
    ? "the revision is taken for another template"
    : undefined;
}
