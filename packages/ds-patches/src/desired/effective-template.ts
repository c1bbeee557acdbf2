/** The template of a node: the DaemonSet's own with the matching patches applied in order (DSP-431, 506 to 513). */
import { dropUnknownFields, strategicMerge, type TypeTable } from "@quartet/strategic-merge";
import type { PodTemplate } from "../api.ts";
import type { PatchMask, PatchMatch } from "./patch-set.ts";
import { type PlacementProblem, placementProblems } from "./placement.ts";

const TYPE = "PodTemplateSpec";
/** Effective templates that are kept per DaemonSet, least recently used first out (DSP-1042). */
const CACHED_TEMPLATES = 64;

export interface EffectiveTemplate {
  readonly template: PodTemplate;
  /** Paths in the patches that the schema does not have; what stood there was dropped (DSP-439). */
  readonly unknown: readonly { readonly index: number; readonly path: string }[];
}

/** A node's patches cannot be applied; `index` is that of the patch in the list. */
export class PatchError extends Error {
  override readonly name = "PatchError";
  readonly reason: "apply_failed" | "invariant_violated";
  readonly index: number | undefined;

  constructor(reason: PatchError["reason"], index: number | undefined, message: string) {
    super(message);
    this.reason = reason;
    this.index = index;
  }
}

/**
 * Folds the patches over the template. Neither is altered.
 * @throws PatchError when a patch is malformed, or the result would leave its node (DSP-511, 512)
 */
export function effectiveTemplate(
  template: PodTemplate,
  match: Pick<PatchMatch, "indexes" | "patches">,
  table?: TypeTable,
): EffectiveTemplate {
  const unknown: { index: number; path: string }[] = [];
  let result = template;
  match.patches.forEach(({ patch }, place) => {
    const index = match.indexes[place]!;
    try {
      const known = dropUnknownFields(TYPE, patch, table);
      unknown.push(...known.unknown.map((path) => ({ index, path })));
      result = strategicMerge(TYPE, result, known.value, table);
    } catch (error) {
      throw new PatchError("apply_failed", index, `patches[${index}]: ${(error as Error).message}`);
    }
  });
  if (match.patches.length > 0) {
    const [problem] = placementProblems(template, result);
    if (problem !== undefined) throw invariantViolated(problem);
  }
  return { template: result, unknown };
}

function invariantViolated({ path, message }: PlacementProblem): PatchError {
  return new PatchError("invariant_violated", undefined, `${path}: ${message}`);
}

/** Effective templates by mask, each computed once; a failure is kept like a result. */
export function createTemplateCache(
  template: PodTemplate,
  matchOf: (mask: PatchMask) => PatchMatch,
  table?: TypeTable,
): (mask: PatchMask) => EffectiveTemplate {
  const cache = new Map<PatchMask, EffectiveTemplate | PatchError>();
  return (mask) => {
    const found = cache.get(mask) ?? computed(template, matchOf(mask), table);
    cache.delete(mask);
    cache.set(mask, found);
    if (cache.size > CACHED_TEMPLATES) cache.delete(cache.keys().next().value!);
    if (found instanceof PatchError) throw found;
    return found;
  };
}

function computed(
  template: PodTemplate,
  match: PatchMatch,
  table: TypeTable | undefined,
): EffectiveTemplate | PatchError {
  try {
    return effectiveTemplate(template, match, table);
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
}
