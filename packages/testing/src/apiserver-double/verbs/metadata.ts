/** Rules about object metadata that hold for every kind. */
import { sameJson, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { type Cause, forbiddenField, invalidValue, required } from "../status.ts";
import { checkAnnotations, checkLabels, checkName, checkQualifiedName } from "../strategies/validation.ts";

/** Finalizers that need no domain. */
const STANDARD_FINALIZERS = ["orphan", "foregroundDeletion", "kubernetes"];

/** Built-in kinds ask for a domain in front; custom ones take any name. */
function checkFinalizers(type: ResourceType, finalizers: readonly string[]): Cause[] {
  const strict = type.custom === undefined && type.group !== "apiextensions.k8s.io";
  return finalizers.flatMap((name, index) => {
    const found = checkQualifiedName(name, "metadata.finalizers");
    if (found.length > 0) return found;
    if (!strict || name.includes("/") || STANDARD_FINALIZERS.includes(name)) return [];
    const why = "name is neither a standard finalizer name nor is it fully qualified";
    return [invalidValue(`metadata.finalizers[${index}]`, name, why)];
  });
}

function checkOwners(object: KubeObject): Cause[] {
  const owners = object.metadata.ownerReferences ?? [];
  const found = owners.flatMap((owner, index) => {
    const at = `metadata.ownerReferences[${index}]`;
    const missing: Cause[] = [];
    if (text(owner.apiVersion) === "") {
      missing.push(invalidValue(`${at}.apiVersion`, "", "version must not be empty"));
    }
    for (const key of ["kind", "name", "uid"] as const) {
      if (text(owner[key]) === "") missing.push(required(`${at}.${key}`, "must not be empty"));
    }
    return missing;
  });
  const controllers = owners.filter((owner) => owner.controller === true);
  if (controllers.length > 1) {
    const [first, second] = controllers;
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${first!.kind}/${first!.name} and ${second!.kind}/${second!.name}`;
    found.push(invalidValue("metadata.ownerReferences", owners, why));
  }
  return found;
}

export function checkMetadata(type: ResourceType, object: KubeObject): Cause[] {
  const { metadata } = object;
  const found: Cause[] = [];
  if (text(metadata.name) === "") {
    found.push(required("metadata.name", "name or generateName is required"));
  } else {
    const field = text(metadata.generateName) === "" ? "metadata.name" : "metadata.generateName";
    found.push(...checkName(metadata.name, type.strategy.name, field));
  }
  found.push(...checkLabels(metadata.labels, "metadata.labels"));
  found.push(...checkAnnotations(metadata.annotations, "metadata.annotations"));
  found.push(...checkOwners(object));
  found.push(...checkFinalizers(type, metadata.finalizers ?? []));
  return found;
}

/** What an update may not do to the metadata. */
export function checkMetadataUpdate(object: KubeObject, old: KubeObject): Cause[] {
  const found: Cause[] = [];
  if (old.metadata.deletionTimestamp === undefined) return found;
  const before = old.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((name) => !before.includes(name));
  if (added.length > 0) {
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`;
    found.push(forbiddenField("metadata.finalizers", why));
  }
  return found;
}

function goStrings(list: readonly string[]): string {
  return `[]string{${list.map((name) => JSON.stringify(name)).join(", ")}}`;
}

/** Copies what the server owns from the stored object. */
export function keepSystemFields(object: KubeObject, old: KubeObject): void {
  const { metadata } = object;
  const before = old.metadata;
  for (const key of [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "namespace",
  ] as const) {
    if (before[key] === undefined) delete metadata[key];
    else Object.assign(metadata, { [key]: before[key] });
  }
  if (metadata.managedFields === undefined && before.managedFields !== undefined) {
    metadata.managedFields = before.managedFields;
  }
}

/** Whether the part that counts for `metadata.generation` differs. */
export function bodyChanged(type: ResourceType, object: KubeObject, old: KubeObject): boolean {
  if (type.strategy.generation === "spec") return !sameJson(object.spec, old.spec);
  const body = (value: KubeObject): unknown => {
    const { metadata: _metadata, ...rest } = value;
    if (type.strategy.status) delete (rest as Record<string, unknown>).status;
    return rest;
  };
  return !sameJson(body(object), body(old));
}
