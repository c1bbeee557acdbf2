/** Owner references: who controls an object, and taking over objects that nobody controls. */
import { isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import {
  apiVersionOf,
  controllerOf,
  type DeepReadonly,
  groupOf,
  type Kind,
  type KubeObject,
  keyOf,
  keyToString,
  type OwnerReference,
} from "../object.ts";

/** An object is controlled by somebody else, or cannot have this owner. */
export class OwnershipError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OwnershipError";
  }
}

type OwnerObject = DeepReadonly<{ metadata: { name?: string; namespace?: string; uid?: string } }>;

/** The controller reference to an owner: it blocks the owner's foreground deletion (CORE-309). */
export function controllerReference(kind: Kind, owner: OwnerObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * The object with the owner as its controller; the same owner at another version is replaced in place.
 * Throws {@link OwnershipError} when somebody else controls it, or when the owner lives in another namespace.
 */
export function withController<T extends KubeObject>(object: T, kind: Kind, owner: OwnerObject): T {
  const namespace = object.metadata.namespace ?? "";
  const ownerNamespace = owner.metadata.namespace ?? "";
  const name = `${object.kind} ${keyToString(keyOf(object))}`;
  if (ownerNamespace !== "" && ownerNamespace !== namespace) {
    const place = namespace === "" ? "is cluster-scoped" : `is in namespace ${namespace}`;
    throw new OwnershipError(`${name} ${place}: its owner cannot be in namespace ${ownerNamespace}`);
  }
  const reference = controllerReference(kind, owner);
  const references = object.metadata.ownerReferences ?? [];
  const current = controllerOf(object);
  if (current !== undefined && !isSameOwner(current, reference)) {
    throw new OwnershipError(`${name} is controlled by ${current.kind} ${current.name} already`);
  }
  const index = references.findIndex((candidate) => isSameOwner(candidate, reference));
  const next = index < 0 ? [...references, reference] : references.with(index, reference);
  return { ...object, metadata: { ...object.metadata, ownerReferences: next } };
}

/** Whether this very owner, by uid, controls the object. */
export function isControlledBy(object: DeepReadonly<KubeObject>, owner: OwnerObject): boolean {
  return owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/** How an object with our labels relates to us. */
export type Adoption =
  | { result: "owned" | "adopted" }
  /** Controlled by somebody else, or by a former owner of our name: left alone. */
  | { result: "foreign"; controller: DeepReadonly<OwnerReference> }
  /** Our owner is gone or going: nothing was done. */
  | { result: "owner-gone" };

/**
 * Takes over an object that nobody controls (CORE-312): the owner is read live first, and the patch holds only for
 * the object's uid. Children of a former owner of the same name are left to the garbage collector (CORE-313).
 */
export async function adopt<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  object: DeepReadonly<T>,
  owner: { kind: Kind; object: OwnerObject },
): Promise<Adoption> {
  const current = controllerOf(object);
  if (current !== undefined) {
    return current.uid === owner.object.metadata.uid
      ? { result: "owned" }
      : { result: "foreign", controller: current };
  }
  const live = await client.get(owner.kind, keyOf(owner.object)).catch((error) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (live === undefined || live.metadata.uid !== owner.object.metadata.uid) return { result: "owner-gone" };
  if (live.metadata.deletionTimestamp !== undefined) return { result: "owner-gone" };
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), controllerReference(owner.kind, live)];
  const body = {
    metadata: { uid: object.metadata.uid, resourceVersion: object.metadata.resourceVersion, ownerReferences },
  };
  await client.patch(kind, keyOf(object), { type: "merge", body });
  return { result: "adopted" };
}

function isSameOwner(a: DeepReadonly<OwnerReference>, b: DeepReadonly<OwnerReference>): boolean {
  return (
    a.uid === b.uid &&
    a.kind === b.kind &&
    a.name === b.name &&
    groupOf(a.apiVersion) === groupOf(b.apiVersion)
  );
}
