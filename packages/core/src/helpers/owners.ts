/** Owner references: who controls an object. */
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

const describe = ({ apiVersion, kind, name, uid }: DeepReadonly<OwnerReference>): string =>
  `${kind}.${groupOf(apiVersion) || "core"} ${name} (uid ${uid})`;

/** Same group, kind and name: perhaps another object of that name, before or after. */
function isNamesake(a: DeepReadonly<OwnerReference>, b: DeepReadonly<OwnerReference>): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion);
}

function isSameOwner(a: DeepReadonly<OwnerReference>, b: DeepReadonly<OwnerReference>): boolean {
  return a.uid === b.uid && isNamesake(a, b);
}
