/** Whose an object is, and the metadata that children share. */
import {
  controllerOf,
  controllerReference,
  type DeepReadonly,
  groupOf,
  type KubeObject,
  type OwnerReference,
} from "@quartet/core";
import { NACOS } from "../kinds.ts";
import {
  ADOPT_ANNOTATION,
  fixedLabels,
  INHERITED_ANNOTATION,
  inheritedAnnotations,
  isPrivateAnnotation,
} from "./names.ts";
import type { NacosResource } from "./settings.ts";

/** An object's relation to a resource. */
export type Claim =
  /** Controlled by the resource. */
  | { readonly state: "ours" }
  /** Controlled by nobody, and allowed to be taken over. */
  | { readonly state: "adoptable" }
  /** Controlled by a deleted resource of the same name, or itself about to go: wait for the garbage collector. */
  | { readonly state: "leaving" }
  /** Somebody else's; `owner` tells whose, or `unmanaged`. */
  | { readonly state: "foreign"; readonly owner: string };

/**
 * Relation of an existing object to the resource.
 * @param byAnnotation whether the resource's `nacos.io/adopt` counts for this kind of object
 */
export function claimOf(
  object: DeepReadonly<KubeObject>,
  resource: NacosResource,
  byAnnotation = false,
): Claim {
  const owner = controllerOf(object);
  const { name = "", uid } = resource.metadata;
  if (owner !== undefined) {
    const sameName = isNacos(owner) && owner.name === name;
    if (owner.uid !== uid && !sameName) return { state: "foreign", owner: `${owner.kind} ${owner.name}` };
    const leaving = owner.uid !== uid || object.metadata.deletionTimestamp !== undefined;
    return { state: leaving ? "leaving" : "ours" };
  }
  const labels = object.metadata.labels ?? {};
  const ours = labels.app === name && labels.middleware === "nacos";
  const forced = byAnnotation && resource.metadata.annotations?.[ADOPT_ANNOTATION] === "true";
  if (!ours && !forced) return { state: "foreign", owner: "unmanaged" };
  return { state: object.metadata.deletionTimestamp === undefined ? "adoptable" : "leaving" };
}

/** True when a generated object is controlled by any Nacos resource. */
export function isControlledByNacos(object: DeepReadonly<KubeObject>): boolean {
  const owner = controllerOf(object);
  return owner !== undefined && isNacos(owner);
}

function isNacos({ kind, apiVersion }: DeepReadonly<OwnerReference>): boolean {
  return kind === NACOS.kind && groupOf(apiVersion) === NACOS.group;
}

/** Metadata of a child: name, labels, inherited and own annotations, owner. */
export function childMetadata(
  resource: NacosResource,
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): KubeObject["metadata"] {
  const fixed = fixedLabels(resource.metadata.name ?? "");
  const all: Record<string, string> = {
    ...inheritedAnnotations(resource.metadata.annotations),
    ...annotations,
  };
  const inherited = keysOf(resource.metadata.labels ?? {}, all, fixed);
  if (inherited !== undefined) all[INHERITED_ANNOTATION] = inherited;
  return {
    name,
    namespace: resource.metadata.namespace ?? "",
    labels: { ...resource.metadata.labels, ...fixed },
    ...(Object.keys(all).length > 0 ? { annotations: all } : {}),
    ownerReferences: [controllerReference(NACOS, resource)],
  };
}

/** Keys of the labels and annotations that come and go with the resource's, as text; `undefined`: none. */
function keysOf(labels: object, annotations: object, fixed: object): string | undefined {
  const inherited = {
    labels: Object.keys(labels).filter((key) => !(key in fixed)),
    annotations: Object.keys(annotations).filter((key) => !isPrivateAnnotation(key)),
  };
  const some = Object.entries(inherited).filter(([, keys]) => keys.length > 0);
  return some.length === 0
    ? undefined
    : JSON.stringify(Object.fromEntries(some.map(([field, keys]) => [field, keys.sort()])));
}

/** What {@link keysOf} wrote into a live object; nothing when it has been edited into something else. */
function inheritedKeys(text: string | undefined, field: "labels" | "annotations"): string[] {
  try {
    const keys = (JSON.parse(text ?? "{}") as Partial<Record<typeof field, string[]>> | null)?.[field];
    return Array.isArray(keys) ? keys : [];
  } catch {
    return [];
  }
}

/**
 * The live metadata with everything that the desired one sets, and without what an earlier one had inherited: labels and
 * annotations of others stay, and so do further owners.
 */
export function mergedMetadata(
  live: DeepReadonly<KubeObject["metadata"]>,
  desired: KubeObject["metadata"],
): KubeObject["metadata"] {
  const result = structuredClone(live) as KubeObject["metadata"];
  const earlier = live.annotations?.[INHERITED_ANNOTATION];
  for (const field of ["labels", "annotations"] as const) {
    const gone = new Set([...inheritedKeys(earlier, field), INHERITED_ANNOTATION]);
    const kept = Object.entries(result[field] ?? {}).filter(([key]) => !gone.has(key));
    const merged = { ...Object.fromEntries(kept), ...desired[field] };
    if (Object.keys(merged).length > 0) result[field] = merged;
    else delete result[field];
  }
  const owners = result.ownerReferences ?? [];
  const missing = (desired.ownerReferences ?? []).filter(
    ({ uid }) => !owners.some((owner) => owner.uid === uid),
  );
  if (missing.length > 0) result.ownerReferences = [...owners, ...missing];
  return result;
}
