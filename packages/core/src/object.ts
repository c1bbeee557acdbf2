/**
 * Kubernetes objects as plain JSON values.
 *
 * Objects are never turned into class instances: what the server sent is what a caller sees, unknown fields
 * included, and what a caller writes is what the server gets.
 */

/** Reference from a dependent object to its owner. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metadata` of any object. All times are RFC 3339 strings as the server wrote them. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

/** Any Kubernetes object. Typed kinds extend it with their own fields. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A list answer; `metadata.resourceVersion` is the version at which the list was taken. */
export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion: string;
  kind: string;
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}

/** Name of an object within its kind; `namespace` is `""` for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * A kind of object: all that a request, an informer or an RBAC rule needs to know of it.
 * `T` is the type of its objects; it exists at compile time only.
 */
export interface Kind<T extends KubeObject = KubeObject> {
  /** API group, `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Resource name in URLs and RBAC rules, for example `statefulsets`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Carries the type; never present at run time. A method, so that `Kind<Pod>` is also a `Kind`. */
  objectType?(object: T): void;
}

/** Recursively read-only view of `T`: the type of every object that the cache hands out. */
export type DeepReadonly<T> = T extends (infer U)[]
  ? readonly DeepReadonly<U>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Maps the types of `@kubernetes/client-node` to what really travels: `Date` is a string on the wire. */
export type Json<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? Json<U>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;

/** Declares a kind: `defineKind<Pod>({group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true})`. */
export function defineKind<T extends KubeObject>(kind: Omit<Kind<T>, "objectType">): Kind<T> {
  return Object.freeze({ ...kind });
}

/** `v1` or `apps/v1`: the `apiVersion` of the kind's objects. */
export function apiVersionOf(kind: Pick<Kind, "group" | "version">): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/** The API group of an `apiVersion`: `apps` of `apps/v1`, `""` of `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** Key of an object. An absent name or namespace reads as `""`. */
export function keyOf(object: {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

/** `namespace/name`, or `name` for cluster-scoped objects: the form used in logs and as map key. */
export function keyToString(key: ObjectKey): string {
  return key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;
}

/** Inverse of {@link keyToString}. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0
    ? { namespace: "", name: text }
    : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The owner reference with `controller: true`, if any. */
export function controllerOf(
  object: DeepReadonly<{ metadata: ObjectMeta }>,
): DeepReadonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}
