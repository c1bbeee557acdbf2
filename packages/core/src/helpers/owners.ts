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
import type { EventRecorder } from "../observe/types.ts";

/** An object is controlled by somebody else, or cannot have this owner. */
export class OwnershipError extends Error {
  override readonly name = "OwnershipError";
}

type OwnerObject = DeepReadonly<{ metadata: { name?: string; namespace?: string; uid?: string } }>;
type Owned = DeepReadonly<Pick<KubeObject, "kind" | "metadata">>;

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
  return {
    ...object,
    metadata: { ...object.metadata, ownerReferences: referencesWith(object, kind, owner) },
  };
}

function referencesWith(object: Owned, kind: Kind, owner: OwnerObject): OwnerReference[] {
  const namespace = object.metadata.namespace ?? "";
  const ownerNamespace = owner.metadata.namespace ?? "";
  const name = `${object.kind} ${keyToString(keyOf(object))}`;
  if (ownerNamespace !== "" && ownerNamespace !== namespace) {
    const place = namespace === "" ? "is cluster-scoped" : `is in namespace ${namespace}`;
    throw new OwnershipError(`${name} ${place}: its owner cannot be in namespace ${ownerNamespace}`);
  }
  const reference = controllerReference(kind, owner);
  const current = controllerOf(object);
  if (current !== undefined && !isSameOwner(current, reference)) {
    throw new OwnershipError(`${name} is controlled by ${describe(current)} already`);
  }
  const references = (object.metadata.ownerReferences ?? []).map((one) => ({ ...one }));
  const index = references.findIndex((candidate) => isSameOwner(candidate, reference));
  return index < 0 ? [...references, reference] : references.with(index, reference);
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
  | { result: "owner-gone" }
  /** The object itself is gone or going: nothing was done. */
  | { result: "object-gone" };

/** What an adoption needs of the reconcile's context. */
export interface AdoptionContext {
  readonly client: Client;
  readonly events: EventRecorder;
}

/**
 * Takes over an object that nobody controls (CORE-312): the owner is read live first, and the patch holds only for
 * the object as it was seen. An object that somebody else controls is left, with a Warning on the owner; children of a
 * former owner of the same name are left to the garbage collector without one (CORE-313).
 */
export async function adopt<T extends KubeObject>(
  { client, events }: AdoptionContext,
  kind: Kind<T>,
  object: DeepReadonly<T>,
  owner: { kind: Kind; object: DeepReadonly<KubeObject> },
): Promise<Adoption> {
  const current = controllerOf(object);
  if (current !== undefined) {
    if (current.uid === owner.object.metadata.uid) return { result: "owned" };
    if (!isNamesake(current, controllerReference(owner.kind, owner.object))) {
      const note = `${object.kind} ${keyToString(keyOf(object))} is controlled by ${describe(current)}, it is left alone.`;
      events.record(owner.object, { type: "Warning", reason: "ForeignController", note }, object);
    }
    return { result: "foreign", controller: current };
  }
  if (object.metadata.deletionTimestamp !== undefined) return { result: "object-gone" };
  const live = await client.get(owner.kind, keyOf(owner.object)).catch(ignoreNotFound);
  if (live === undefined || live.metadata.uid !== owner.object.metadata.uid) return { result: "owner-gone" };
  if (live.metadata.deletionTimestamp !== undefined) return { result: "owner-gone" };
  const { uid, resourceVersion } = object.metadata;
  const ownerReferences = referencesWith(object, owner.kind, live);
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  const patched = await client.patch(kind, keyOf(object), { type: "merge", body }).catch(ignoreNotFound);
  return { result: patched === undefined ? "object-gone" : "adopted" };
}

function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

const describe = ({ apiVersion, kind, name, uid }: DeepReadonly<OwnerReference>): string =>
  `${kind}.${groupOf(apiVersion) || "core"} ${name} (uid ${uid})`;

/** Same group, kind and name: perhaps another object of that name, before or after. */
function isNamesake(a: DeepReadonly<OwnerReference>, b: DeepReadonly<OwnerReference>): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion);
}

function isSameOwner(a: DeepReadonly<OwnerReference>, b: DeepReadonly<OwnerReference>): boolean {
  return a.uid === b.uid && isNamesake(a, b);
}
