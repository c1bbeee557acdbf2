/** The bytes of `ControllerRevision.data`, and which template they stand for (DSP-604 to 606, 610). */
import type { JsonMap } from "@quartet/strategic-merge";
import type { NodePatch, PodTemplate } from "../api.ts";
import { isMap } from "../json.ts";
import { canonicalJson } from "./canonical.ts";
import { goTemplate } from "./go-template.ts";
import { shortHash } from "./patch-set.ts";

/** Characters that Go escapes in JSON for the sake of HTML and JavaScript. */
const GO_ESCAPES = /[<>&\u2028\u2029]/g;

/** Text of a base revision's data, byte for byte as Kruise writes it. */
export function baseData(template: PodTemplate): string {
  return goJson({ spec: { template: replaced(template) } });
}

/** Text of a snapshot's data: the base data and the whole list of patches. */
export function snapshotData(template: PodTemplate, patches: readonly NodePatch[]): string {
  return goJson({ patches, spec: { template: replaced(template) } });
}

/** Hash in the name of a snapshot. */
export function snapshotHash(template: PodTemplate, patches: readonly NodePatch[]): string {
  return shortHash(canonicalJson({ patches, template: goTemplate(template) }));
}

/** Template and patches of a revision's data; `undefined` for data of another form. */
export function readRevision(
  data: unknown,
): { template: PodTemplate; patches: readonly NodePatch[] | undefined } | undefined {
  if (!isMap(data) || !isMap(data.spec) || !isMap(data.spec.template)) return undefined;
  const { $patch: _, ...template } = data.spec.template;
  const patches = Array.isArray(data.patches) ? (data.patches as unknown as NodePatch[]) : undefined;
  return { template: template as PodTemplate, patches };
}

/** Whether two templates mean the same: nulls, empty resources and the form of quantities do not count (DSP-606). */
export function isSameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return canonicalJson(goTemplate(a)) === canonicalJson(goTemplate(b));
}

function replaced(template: PodTemplate): JsonMap {
  return { $patch: "replace", ...goTemplate(template) };
}

function goJson(value: unknown): string {
  return canonicalJson(value).replace(
    GO_ESCAPES,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
