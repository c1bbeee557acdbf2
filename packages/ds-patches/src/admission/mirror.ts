/** The annotation that holds what `spec.patches` does, for a definition that drops the field (DSP-207 to 210). */
import type { DeepReadonly } from "@quartet/core";
import type { NodePatch } from "../api.ts";
import { canonicalJson } from "../desired/canonical.ts";
import { PATCHES } from "../desired/keys.ts";
import { annotatedPatches } from "../desired/patch-source.ts";
import type { DaemonSet } from "../kinds.ts";

export interface Mirrored {
  readonly daemonSet: DaemonSet;
  /** For the user: what of the request has no effect. */
  readonly warning?: string;
}

/** The object with field and annotation in step; the field is what counts, unless it never was there. */
export function mirrored(daemonSet: DaemonSet, old: DeepReadonly<DaemonSet> | undefined): Mirrored {
  const patches = daemonSet.spec.patches ?? [];
  const annotation = daemonSet.metadata.annotations?.[PATCHES];
  if (patches.length > 0) return withAnnotation(daemonSet, patches, old);
  if ((old?.spec.patches ?? []).length > 0) return { daemonSet: withoutAnnotation(daemonSet) };
  const found = annotation === undefined ? [] : annotatedPatches(annotation).patches;
  if (!Array.isArray(found) || found.length === 0) return { daemonSet };
  return { daemonSet: { ...daemonSet, spec: { ...daemonSet.spec, patches: found as NodePatch[] } } };
}

function withAnnotation(
  daemonSet: DaemonSet,
  patches: readonly NodePatch[],
  old: DeepReadonly<DaemonSet> | undefined,
): Mirrored {
  const mirror = canonicalJson(patches);
  const before = daemonSet.metadata.annotations?.[PATCHES];
  const annotations = { ...daemonSet.metadata.annotations, [PATCHES]: mirror };
  const next = { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } };
  const isEdited = before !== mirror && before !== old?.metadata.annotations?.[PATCHES];
  if (before === undefined || !isEdited) return { daemonSet: next };
  return {
    daemonSet: next,
    warning: `metadata.annotations[${PATCHES}]: follows spec.patches, which counts; change that instead`,
  };
}

function withoutAnnotation(daemonSet: DaemonSet): DaemonSet {
  const { [PATCHES]: _gone, ...annotations } = daemonSet.metadata.annotations ?? {};
  return { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } };
}
