/** `@quartet/ds-patches`: DaemonSets whose pod template differs from node to node. */
export type { LabelSelector, Labels, NodePatch, PodTemplate } from "./api.ts";
export {
  createTemplateCache,
  type EffectiveTemplate,
  effectiveTemplate,
  PatchError,
} from "./desired/effective-template.ts";
export { compilePatches, type PatchMatch, type PatchSet } from "./desired/patch-set.ts";
export type { DaemonSet } from "./kinds.ts";
export { runningKruise } from "./mode/look.ts";
export { dsPatchesModule } from "./module.ts";
export { type AppliedPatch, type Change, type Preview, previewNode } from "./preview.ts";
