/** What a patch must leave alone, since a pod of a DaemonSet stays on its node (DSP-350 to 354, 512). */
import type { JsonMap } from "@quartet/strategic-merge";
import type { PodTemplate } from "../api.ts";
import { mapOf } from "../json.ts";
import { canonicalJson } from "./canonical.ts";

export interface PlacementProblem {
  /** From the template, as `spec.nodeName`. */
  readonly path: string;
  readonly message: string;
}

/** Labels and annotations that belong to the controller (DSP-353). */
const RESERVED_KEYS = ["controller-revision-hash", "pod-template-generation"];
const RESERVED_PREFIXES = [
  "daemonset.kruise.io/",
  "lifecycle.apps.kruise.io/",
  "apps.kruise.io/inplace-update-",
];

/** True for a label or annotation key that the controller itself writes. */
export function isReservedKey(key: string): boolean {
  return RESERVED_KEYS.includes(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** What the patched template does that no patch may do; none for a result that is as free as the template. */
export function placementProblems(template: PodTemplate, result: PodTemplate): PlacementProblem[] {
  const [before, after] = [template.spec ?? {}, result.spec ?? {}];
  const problems: PlacementProblem[] = [];
  const forbid = (path: string, message: string): unknown => problems.push({ path, message });
  for (const field of ["nodeName", "nodeSelector"]) {
    if (differs(before[field], after[field])) {
      forbid(`spec.${field}`, "a patch may not change it: the pod must stay on its node; remove it");
    }
  }
  if (differs(nodeAffinityOf(before), nodeAffinityOf(after))) {
    forbid(
      "spec.affinity.nodeAffinity",
      "a patch may not change it: the pod must stay on its node; remove it",
    );
  }
  if (after.restartPolicy !== undefined && after.restartPolicy !== "Always") {
    forbid("spec.restartPolicy", "must be Always in a DaemonSet; remove it");
  }
  if (after.activeDeadlineSeconds !== undefined) {
    forbid("spec.activeDeadlineSeconds", "a pod of a DaemonSet has no end; remove it");
  }
  if (after.ephemeralContainers !== undefined && before.ephemeralContainers === undefined) {
    forbid("spec.ephemeralContainers", "may not be part of a template; remove it");
  }
  for (const field of ["labels", "annotations"]) {
    const [own, patched] = [mapOf(template.metadata?.[field]), mapOf(result.metadata?.[field])];
    for (const key of new Set([...Object.keys(own), ...Object.keys(patched)])) {
      if (isReservedKey(key) && differs(own[key], patched[key])) {
        forbid(`metadata.${field}[${key}]`, "the key is reserved for the controller; remove it");
      }
    }
  }
  return problems;
}

function nodeAffinityOf(spec: JsonMap): unknown {
  return mapOf(spec.affinity).nodeAffinity;
}

function differs(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) !== canonicalJson(b ?? null);
}
