/** Nulls of patches that client-side `kubectl apply` dropped on the way (DSP-216). */

import type { DeepReadonly } from "@quartet/core";
import { itemPath, memberPath } from "@quartet/strategic-merge";
import { isMap, mapOf } from "../json.ts";
import type { DaemonSet } from "../kinds.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const REMEDY =
  "null was dropped by kubectl apply; use $patch: delete or $retainKeys, or kubectl apply --server-side";

/** A warning for each null that the user wrote and that is not there. */
export function strippedNulls({ metadata, spec }: DeepReadonly<DaemonSet>): string[] {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return [];
  try {
    const applied: unknown = JSON.parse(text);
    return missingNulls(mapOf(mapOf(applied).spec).patches, spec.patches, "spec.patches").map(
      (path) => `${path}: ${REMEDY}`,
    );
  } catch {
    return [];
  }
}

/** Paths of nulls in maps that one value has and the other does not. */
function missingNulls(wanted: unknown, stored: unknown, path: string): string[] {
  if (Array.isArray(wanted) && Array.isArray(stored)) {
    return wanted.flatMap((item, index) => missingNulls(item, stored[index], itemPath(path, index)));
  }
  if (!isMap(wanted) || !isMap(stored)) return [];
  return Object.entries(wanted).flatMap(([key, value]) => {
    const at = memberPath(path, key);
    return value === null && stored[key] === undefined ? [at] : missingNulls(value, stored[key], at);
  });
}
