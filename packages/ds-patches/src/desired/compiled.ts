/** A DaemonSet made ready for many nodes: selectors compiled, templates and eligibility by set of patches (DSP-1041). */
import type { DeepReadonly } from "@quartet/core";
import type { Labels, NodePatch, PodTemplate } from "../api.ts";
import type { DaemonSet } from "../kinds.ts";
import { canonicalJson } from "./canonical.ts";
import { createTemplateCache, type EffectiveTemplate } from "./effective-template.ts";
import { compileEligibility, type Eligibility } from "./eligibility.ts";
import { goTemplate } from "./go-template.ts";
import { compilePreDelete, type PreDelete } from "./lifecycle.ts";
import type { NodeFacts } from "./objects.ts";
import { compilePatches, type PatchMask, type PatchMatch, type PatchSet } from "./patch-set.ts";
import { compileSelector, type LabelMatcher } from "./selector.ts";

export interface Compiled {
  readonly generation: number;
  /** Patches in force; none while the feature is off. */
  readonly patches: readonly NodePatch[];
  readonly patchSet: PatchSet;
  /** Canonical form of the template, by which revisions are compared with it. */
  readonly templateText: string;
  /** Hook before a pod's deletion. */
  readonly preDelete: PreDelete | undefined;
  /** Selector of pods; `undefined` when it is empty or cannot be read, and so selects none. */
  readonly selectsPod: LabelMatcher | undefined;
  /** Whether a rolling update may replace the pod of a node with these labels. */
  readonly selectsNode: LabelMatcher;
  matchOf(labels: Labels): PatchMatch;
  /** @throws PatchError when the patches of the mask cannot be applied */
  templateOf(mask: PatchMask): EffectiveTemplate;
  /** On the node's effective template (D16); where that cannot be made, on the template without patches. */
  eligibilityOf(node: NodeFacts): Eligibility;
}

/** @param enabled false leaves patches out (the feature gate) */
export function compile(daemonSet: DeepReadonly<DaemonSet>, enabled: boolean): Compiled {
  const { spec, metadata } = daemonSet as DaemonSet;
  const { template, selector, patches: own = [] } = spec;
  const patches = enabled ? own : [];
  const patchSet = compilePatches(patches);
  const templateOf = createTemplateCache(template, patchSet.match);
  const nodes = spec.updateStrategy?.rollingUpdate?.selector;
  const eligibility = new Map<PatchMask, (node: NodeFacts) => Eligibility>();
  const isEmpty =
    Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  return {
    generation: metadata.generation ?? 0,
    patches,
    patchSet,
    templateText: canonicalJson(goTemplate(template)),
    preDelete: compilePreDelete(spec),
    selectsPod: isEmpty ? undefined : compileSelector(selector),
    selectsNode: nodes === undefined ? () => true : (compileSelector(nodes) ?? (() => false)),
    matchOf: (labels) => patchSet.match(patchSet.maskOf(labels)),
    templateOf,
    eligibilityOf(node) {
      const mask = patchSet.maskOf(node.labels);
      const found = eligibility.get(mask) ?? compileEligibility(templateOrOwn(template, templateOf, mask));
      eligibility.set(mask, found);
      return found(node);
    },
  };
}

function templateOrOwn(
  template: PodTemplate,
  templateOf: (mask: PatchMask) => EffectiveTemplate,
  mask: PatchMask,
): PodTemplate {
  try {
    return templateOf(mask).template;
  } catch {
    return template;
  }
}
