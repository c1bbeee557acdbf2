/** Merges the wrapper's volumes into the generated ones. */

import type { JsonMap } from "@quartet/core/kinds";
import { fields, isMap, itemsOf, mapOf, mergeByKey } from "@quartet/pod-template";

/** Sources that are merged field by field when both sides have the same one. */
const MERGED_SOURCES = ["configMap", "secret", "emptyDir"];

/** Volumes by name: the same kind of source is merged, another takes the place of the generated one. */
export function mergeVolumes(base: readonly JsonMap[], overrides: readonly JsonMap[]): JsonMap[] {
  return mergeByKey(base, overrides, fields("name"), mergeVolume);
}

function mergeVolume(base: JsonMap, override: JsonMap): JsonMap {
  if (Object.keys(override).every((field) => field === "name")) return base;
  const source = MERGED_SOURCES.find((kind) => isMap(base[kind]) && isMap(override[kind]));
  if (source === undefined) return override;
  const before = mapOf(base[source]);
  const after = mapOf(override[source]);
  const merged = { ...before, ...after };
  if (before.items !== undefined && after.items !== undefined) {
    merged.items = mergeByKey(itemsOf(before.items), itemsOf(after.items), fields("key"));
  }
  return { ...override, [source]: merged };
}
