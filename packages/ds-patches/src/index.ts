/** `@quartet/ds-patches`: DaemonSets whose pod template differs from node to node. */
export type { LabelSelector, Labels, NodePatch, PodTemplate } from "./api.ts";
export {
  createTemplateCache,
  type EffectiveTemplate,
  effectiveTemplate,
  PatchError,
} from "./desired/effective-template.ts";
export { compilePatches, type PatchMatch, type PatchSet } from "./desired/patch-set.ts";
export { dsPatchesModule } from "./module.ts";
