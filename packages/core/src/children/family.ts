/** What the children of one kind of owner have in common: whose an object is, and the metadata that it carries. */
import { controllerReference } from "../helpers/owners.ts";
import {
  controllerOf,
  type DeepReadonly,
  groupOf,
  type Kind,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
} from "../object.ts";
import type { Problem } from "./problem.ts";

/** The rules for all children of a kind of owner. */
export interface Family<O extends KubeObject = KubeObject> {
  readonly owner: Kind<O>;
  /** Labels that every child carries. They win over inherited ones. */
  labels(owner: DeepReadonly<O>): Readonly<Record<string, string>>;
  /** Namespace of the children of a cluster-scoped owner; those of any other live in its own. */
  readonly namespace?: string;
  /** Whether an object that nobody controls may be taken over; absent: never. */
  adopts?(object: DeepReadonly<KubeObject>, owner: DeepReadonly<O>): boolean;
  /** Set when children carry the owner's labels and annotations too, and lose them with it. */
  readonly inherits?: {
    /** Annotation of the child that holds the keys that it inherited. */
    readonly annotation: string;
    /** True for annotations that stay on the owner. */
    isPrivate(key: string): boolean;
  };
}

/** An object's relation to an owner. */
export type Claim =
  /** Controlled by the owner. */
  | { readonly state: "ours" }
  /** Controlled by nobody, and allowed to be taken over. */
  | { readonly state: "adoptable" }
  /** Controlled by a deleted owner of the same name, or itself about to go: wait for the garbage collector. */
  | { readonly state: "leaving" }
  /** Somebody else's; `owner` tells whose, or `unmanaged`. */
  | { readonly state: "foreign"; readonly owner: string };

/**
 * Relation of an existing object to the owner.
 * @param force takes over whatever nobody controls, as when the owner asks for it
 */
export function claimOf<O extends KubeObject>(
  family: Family<O>,
  owner: DeepReadonly<O>,
  object: DeepReadonly<KubeObject>,
  force = false,
): Claim {
  const controller = controllerOf(object);
  const { name, uid } = owner.metadata;
  const going = object.metadata.deletionTimestamp !== undefined;
  if (controller !== undefined) {
    const sameName = isOwnerKind(family, controller) && controller.name === name;
    if (controller.uid !== uid && !sameName) {
      return { state: "foreign", owner: `${controller.kind} ${controller.name}` };
    }
    return { state: controller.uid !== uid || going ? "leaving" : "ours" };
  }
  if (!force && family.adopts?.(object, owner) !== true) return { state: "foreign", owner: "unmanaged" };
  return { state: going ? "leaving" : "adoptable" };
}

/** True when any owner of the family's kind controls the object. */
export function isControlledByFamily(
  { owner }: Pick<Family, "owner">,
  object: DeepReadonly<KubeObject>,
): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && isOwnerKind({ owner }, controller);
}

function isOwnerKind(
  { owner }: { owner: Kind },
  { kind, apiVersion }: DeepReadonly<OwnerReference>,
): boolean {
  return kind === owner.kind && groupOf(apiVersion) === owner.group;
}

/** The problem of meeting an object that must not be touched; `undefined` for one that may be. */
export function claimProblem(subject: string, claim: Claim): Problem | undefined {
  if (claim.state === "leaving") {
    const message = `${subject} of a former resource is still there; waiting for it to go`;
    return { cause: "leaving", reason: "WaitingForGarbageCollection", message };
  }
  if (claim.state !== "foreign") return undefined;
  const owner = claim.owner === "unmanaged" ? "is unmanaged" : `belongs to ${claim.owner}`;
  const message = `${subject} exists and ${owner}; it is left alone`;
  return { cause: "foreign", reason: "ResourceConflict", message };
}

/** Where the children of an owner live; `""` for those of a cluster-scoped owner without a namespace of their own. */
export function namespaceOf(family: Pick<Family, "namespace">, owner: DeepReadonly<KubeObject>): string {
  return owner.metadata.namespace || (family.namespace ?? "");
}

/**
 * Metadata of a child: name, namespace, labels, inherited and own annotations, owner.
 * @param annotations those of the child alone
 */
export function childMetadata<O extends KubeObject>(
  family: Family<O>,
  owner: DeepReadonly<O>,
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): ObjectMeta {
  const { inherits } = family;
  const { metadata } = owner;
  const fixed = family.labels(owner);
  const own = inherits === undefined ? {} : (metadata.labels ?? {});
  const passed = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => inherits !== undefined && !inherits.isPrivate(key),
  );
  const all: Record<string, string> = { ...Object.fromEntries(passed), ...annotations };
  if (inherits !== undefined) {
    const keys = {
      labels: Object.keys(own).filter((key) => !(key in fixed)),
      annotations: Object.keys(all).filter((key) => !inherits.isPrivate(key)),
    };
    const some = Object.entries(keys).filter(([, names]) => names.length > 0);
    const sorted = some.map(([field, names]) => [field, names.sort()]);
    if (some.length > 0) all[inherits.annotation] = JSON.stringify(Object.fromEntries(sorted));
  }
  return {
    name,
    namespace: namespaceOf(family, owner),
    labels: { ...own, ...fixed },
    ...(Object.keys(all).length > 0 ? { annotations: all } : {}),
    ownerReferences: [controllerReference(family.owner, owner)],
  };
}

/** What {@link childMetadata} wrote into a live object; nothing when it has been edited into something else. */
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
  { inherits }: Pick<Family, "inherits">,
  live: DeepReadonly<ObjectMeta>,
  desired: ObjectMeta,
): ObjectMeta {
  const result = structuredClone(live) as ObjectMeta;
  const earlier = inherits && live.annotations?.[inherits.annotation];
  for (const field of ["labels", "annotations"] as const) {
    const gone = new Set(
      inherits === undefined ? [] : [...inheritedKeys(earlier, field), inherits.annotation],
    );
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
