/** Where the patches of a DaemonSet are taken from (DSP-211). */
import type { DeepReadonly } from "@quartet/core";
import type { DaemonSet } from "../kinds.ts";
import { PATCHES } from "./keys.ts";

/** Fields that patches stand in. */
const FIELD = "spec.patches";
const ANNOTATION_FIELD = `metadata.annotations[${PATCHES}]`;

/** Patches as the user wrote them. */
export interface PatchSource {
  /** A list, unless the annotation holds something else; `undefined` where `problem` says why. */
  readonly patches: unknown;
  readonly path: string;
  /** What keeps the annotation from being read. */
  readonly problem?: string;
}

/** In companion mode the annotation wins, since OpenKruise drops the field; as owner the field alone counts. */
export function patchSource(daemonSet: DeepReadonly<DaemonSet>, mode: "owner" | "companion"): PatchSource {
  const annotation = daemonSet.metadata.annotations?.[PATCHES];
  if (mode === "companion" && annotation !== undefined) return annotatedPatches(annotation);
  return { patches: daemonSet.spec.patches ?? [], path: FIELD };
}

/** The annotation's list. */
export function annotatedPatches(annotation: string): PatchSource {
  const path = ANNOTATION_FIELD;
  try {
    const patches: unknown = JSON.parse(annotation);
    return Array.isArray(patches)
      ? { patches, path }
      : {
          patches: undefined,
          path,
          problem: "must be a JSON array of objects with selector, patch and priority",
        };
  } catch (error) {
    return { patches: undefined, path, problem: `is no JSON: ${(error as Error).message}` };
  }
}
