/** Merges `k8sWrapper.PodSpec` over the generated pod. */

import type { Container, JsonMap, PodSpec } from "@quartet/core/kinds";
import { fields, isMap, itemsOf, mapOf, mergeByKey, tolerationKey } from "@quartet/pod-template";
import { mergeContainer } from "./container.ts";

/** How each field is merged; all others are replaced. */
const MERGES: Readonly<Record<string, (base: unknown, override: unknown) => unknown>> = {
  containers: mergeContainers,
  initContainers: mergeContainers,
  volumes: (base, override) => mergeByKey(itemsOf(base), itemsOf(override), fields("name"), mergeVolume),
  affinity: (base, override) => ({ ...mapOf(base), ...setMembers(mapOf(override)) }),
  nodeSelector: (base, override) => ({ ...mapOf(base), ...mapOf(override) }),
  tolerations: (base, override) => mergeByKey(itemsOf(base), itemsOf(override), tolerationKey),
  hostAliases: (base, override) =>
    mergeByKey([], [...itemsOf(base), ...itemsOf(override)], fields("ip"), uniteHostnames),
  dnsConfig: mergeDnsConfig,
  topologySpreadConstraints: (base, override) =>
    mergeByKey(itemsOf(base), itemsOf(override), fields("topologyKey", "whenUnsatisfiable")),
};

/** Kinds of volumes that are merged field by field. */
const MERGED_SOURCES = ["configMap", "secret", "emptyDir"];

/** Field of the wrapper that is no field of a pod: the peer's samples nest the pod spec once more, to no effect. */
export const NESTED_SPEC = "spec";

/** The pod with everything that the wrapper sets; unset and null fields change nothing. */
export function mergePodSpec(base: PodSpec, wrapper: JsonMap): PodSpec {
  const result: PodSpec = { ...base };
  for (const [field, value] of Object.entries(wrapper)) {
    if (value === undefined || value === null || value === "" || field === NESTED_SPEC) continue;
    const merge = MERGES[field];
    result[field] = merge === undefined ? value : merge(base[field], value);
  }
  return result;
}

/** The members that set something. */
function setMembers(map: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined && value !== null));
}

function mergeContainers(base: unknown, override: unknown): JsonMap[] {
  return mergeByKey(itemsOf(base), itemsOf(override), fields("name"), (container, change) =>
    mergeContainer(container as Container, change),
  );
}

/** Sources of one kind are merged field by field; another kind takes the place of the generated one. */
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

function uniteHostnames(base: JsonMap, override: JsonMap): JsonMap {
  return { ...base, hostnames: unite(base.hostnames, override.hostnames) };
}

function mergeDnsConfig(base: unknown, override: unknown): JsonMap {
  const before = mapOf(base);
  const after = mapOf(override);
  const merged = { ...before, ...after };
  for (const field of ["nameservers", "searches"]) {
    if (field in before && field in after) merged[field] = unite(before[field], after[field]);
  }
  return merged;
}

function unite(a: unknown, b: unknown): unknown[] {
  return [...new Set([...(Array.isArray(a) ? a : []), ...(Array.isArray(b) ? b : [])])];
}
