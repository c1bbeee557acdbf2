/** The patches of a DaemonSet beside OpenKruise, ready to be matched. */
import type { DeepReadonly } from "@quartet/core";
import { reviewPatches } from "../admission/patches.ts";
import type { NodePatch } from "../api.ts";
import { compilePatches, type PatchSet } from "../desired/patch-set.ts";
import { patchSource } from "../desired/patch-source.ts";
import type { DaemonSet } from "../kinds.ts";

export interface CompanionPatches {
  readonly patches: readonly NodePatch[];
  readonly patchSet: PatchSet;
  /** Why there are none although the annotation is there. */
  readonly problem: string | undefined;
}

/** Compiled once for each state of a DaemonSet that the cache has seen. */
export type PatchesOf = (daemonSet: DeepReadonly<DaemonSet>) => CompanionPatches;

/** @param enabled the feature gate */
export function createPatchesOf(enabled: boolean): PatchesOf {
  const known = new WeakMap<object, CompanionPatches>();
  return (daemonSet) => {
    const found = known.get(daemonSet) ?? compiled(daemonSet, enabled);
    known.set(daemonSet, found);
    return found;
  };
}

function compiled(daemonSet: DeepReadonly<DaemonSet>, enabled: boolean): CompanionPatches {
  const none = (problem?: string): CompanionPatches => ({
    patches: [],
    patchSet: compilePatches([]),
    problem,
  });
  if (!enabled) return none();
  const { patches, path, problem } = patchSource(daemonSet, "companion");
  if (problem !== undefined) return none(`${path}: ${problem}`);
  // Nothing has judged the annotation if the webhook was not there when it was written.
  const { template, selector } = daemonSet.spec as DaemonSet["spec"];
  const [first] = reviewPatches({ patches, path, template, selector }).violations;
  if (first !== undefined && !isSound(patches)) return none(`${first.path}: ${first.message}`);
  const list = patches as NodePatch[];
  return { patches: list, patchSet: compilePatches(list), problem: undefined };
}

/** A list whose items can be matched and applied; whether the result is right shows with the pod. */
function isSound(patches: unknown): patches is NodePatch[] {
  const isObject = (value: unknown): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  return (
    Array.isArray(patches) &&
    patches.length <= 10 &&
    patches.every((item) => isObject(item) && isObject(item.patch))
  );
}
