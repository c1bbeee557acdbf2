/** create, update, patch and apply. */
import { type Kind, type KubeObject, keyOf, keyToString, type ObjectKey } from "../object.ts";
import { isProjected } from "../projected.ts";
import { InvalidRequestError } from "./errors.ts";
import { encodeExact, encodeJson } from "./json.ts";
import { APPLY_TYPE, encodePatch } from "./patch.ts";
import { collectionPath, objectPath, requireNamespace } from "./paths.ts";
import { effectiveKey, type Session } from "./session.ts";
import type { ApplyOptions, Client, Patch, UpdateOptions, WriteOptions } from "./types.ts";
import { sendWrite, writeInfo, writeQuery } from "./write.ts";

/** Longest field manager that the server takes (`fieldManager` of metav1.PatchOptions). CORE-138. */
const MAX_FIELD_MANAGER = 128;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u;

export type WriteVerbs = Pick<Client, "create" | "update" | "patch" | "apply" | "applyOwned">;

export function writeVerbs(session: Session): WriteVerbs {
  return {
    create: (kind, object, options = {}) => create(session, kind, object, options),
    update: (kind, object, options = {}) => update(session, kind, object, options),
    patch: (kind, key, body, options = {}) => patch(session, kind, key, body, options),
    apply: (kind, object, options = {}) => apply(session, kind, object, options),
    applyOwned: (kind, object, options = {}) => apply(session, kind, object, { ...options, force: true }),
  };
}

/** With a subresource (`binding`) the object's name is that of the parent. */
async function create<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  object: T,
  options: WriteOptions,
): Promise<T> {
  const target = effectiveKey(session, kind, keyOf(object));
  requireNamespace(kind, target);
  const { subresource } = options;
  const path =
    subresource === undefined
      ? collectionPath(kind, target.namespace)
      : objectPath(kind, target, subresource);
  const created = await sendWrite<T>(session, {
    info: writeInfo("create", kind, target, options),
    method: "POST",
    path: path + writeQuery(session, kind, options),
    body: encodeJson(object),
    repeatable: "never",
    options,
  });
  return created as T;
}

async function update<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  object: T,
  options: UpdateOptions,
): Promise<T> {
  const target = effectiveKey(session, kind, keyOf(object));
  refuseReduced("update", kind, target, object);
  const versioned = (object.metadata.resourceVersion ?? "") !== "";
  if (!versioned && options.force !== true) {
    throw new InvalidRequestError(
      `${kind.kind} ${keyToString(target)}: update without metadata.resourceVersion; read the object first, or pass force`,
    );
  }
  const text = exactText(kind, target, object);
  const updated = await sendWrite<T>(session, {
    info: writeInfo("update", kind, target, options),
    method: "PUT",
    path: objectPath(kind, target, options.subresource) + writeQuery(session, kind, options),
    body: text,
    repeatable: versioned ? "idempotent" : "never",
    options,
  });
  return updated as T;
}

async function patch<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  key: ObjectKey,
  body: Patch,
  options: WriteOptions,
): Promise<T> {
  const target = effectiveKey(session, kind, key);
  const patched = await sendWrite<T>(session, {
    info: writeInfo("patch", kind, target, options),
    method: "PATCH",
    path: objectPath(kind, target, options.subresource) + writeQuery(session, kind, options),
    ...encodePatch(kind, body),
    repeatable: "never",
    options,
  });
  return patched as T;
}

/** Server-side apply; fields that only the server may set are left out of the body. */
async function apply<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  object: T,
  options: ApplyOptions,
): Promise<T> {
  const target = effectiveKey(session, kind, keyOf(object));
  refuseReduced("apply", kind, target, object);
  checkFieldManager(options.fieldManager ?? session.fieldManager);
  const { managedFields, resourceVersion, uid, creationTimestamp, ...metadata } = object.metadata;
  const applied = await sendWrite<T>(session, {
    info: writeInfo("apply", kind, target, options),
    method: "PATCH",
    path:
      objectPath(kind, target, options.subresource) +
      writeQuery(session, kind, options, options.force === true),
    body: exactText(kind, target, { ...object, metadata }),
    contentType: APPLY_TYPE,
    repeatable: "idempotent",
    options,
  });
  return applied as T;
}

/**
 * Refuses an object of a cache that keeps a part of it only: the server would take what it lacks for deleted, from the
 * whole object by an update, and from the manager's own fields by an apply.
 */
function refuseReduced(verb: "update" | "apply", kind: Kind, target: ObjectKey, object: object): void {
  if (!isProjected(object)) return;
  throw new InvalidRequestError(
    `${kind.kind} ${keyToString(target)}: ${verb} with a reduced object of the cache would delete the fields that it lacks; use a patch, or read it with client.get first`,
  );
}

/** The object as JSON; refuses one whose numbers are not those that the server holds. */
function exactText(kind: Kind, target: ObjectKey, object: object): string {
  const { text, unsafe } = encodeExact(object);
  if (!unsafe) return text;
  throw new InvalidRequestError(
    `${kind.kind} ${keyToString(target)}: holds integers beyond 2^53-1, use a patch`,
  );
}

function checkFieldManager(name: string): void {
  if (PRINTABLE.test(name) && name.length <= MAX_FIELD_MANAGER) return;
  throw new InvalidRequestError(
    `fieldManager ${JSON.stringify(name)}: must be 1 to ${MAX_FIELD_MANAGER} printable characters`,
  );
}
