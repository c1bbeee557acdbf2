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
import { ADOPT_ANNOTATION, fixedLabels, inheritedAnnotations } from "./names.ts";
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
  const all = { ...inheritedAnnotations(resource.metadata.annotations), ...annotations };
  return {
    name,
    namespace: resource.metadata.namespace ?? "",
    labels: { ...resource.metadata.labels, ...fixedLabels(resource.metadata.name ?? "") },
    ...(Object.keys(all).length > 0 ? { annotations: all } : {}),
    ownerReferences: [controllerReference(NACOS, resource)],
  };
}

/**
 * The live metadata with everything that the desired one sets: labels and annotations of others stay, and so do
 * further owners.
 */
export function mergedMetadata(
  live: DeepReadonly<KubeObject["metadata"]>,
  desired: KubeObject["metadata"],
): KubeObject["metadata"] {
  const result = structuredClone(live) as KubeObject["metadata"];
  for (const field of ["labels", "annotations"] as const) {
    if (desired[field] !== undefined) result[field] = { ...result[field], ...desired[field] };
  }
  const owners = result.ownerReferences ?? [];
  const missing = (desired.ownerReferences ?? []).filter(
    ({ uid }) => !owners.some((owner) => owner.uid === uid),
  );
  if (missing.length > 0) result.ownerReferences = [...owners, ...missing];
  return result;
}
