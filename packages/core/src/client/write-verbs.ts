/** create, update, patch, apply and the deletes. */
import { type Kind, type KubeObject, keyOf, keyToString, type ObjectKey } from "../object.ts";
import { InvalidRequestError, isNotFound } from "./errors.ts";
import { decodeJson, encodeExact } from "./json.ts";
import { APPLY_TYPE, encodePatch, isBuiltIn } from "./patch.ts";
import { collectionPath, objectPath, queryString, requireNamespace } from "./paths.ts";
import type { Repeatable } from "./retry.ts";
import { beforeWrite, effectiveKey, effectiveNamespace, JSON_TYPE, poolOf, type Session } from "./session.ts";
import type {
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  RequestOptions,
  UpdateOptions,
  WriteInfo,
  WriteOptions,
} from "./types.ts";

/** Longest field manager that the server takes (`fieldManager` of metav1.PatchOptions). CORE-138. */
const MAX_FIELD_MANAGER = 128;

/** A write on its way to the requester. */
interface Write {
  info: WriteInfo;
  method: string;
  path: string;
  body: string | undefined;
  contentType?: string;
  repeatable: Repeatable;
  options: RequestOptions;
}

export type WriteVerbs = Pick<
  Client,
  | "create"
  | "update"
  | "patch"
  | "apply"
  | "applyOwned"
  | "delete"
  | "deleteIfExists"
  | "deleteCollection"
  | "evict"
>;

/** An apply that also tells whether the object was new. */
export interface Applied<T> {
  object: T;
  created: boolean;
}

export function writeVerbs(session: Session): WriteVerbs {
  const patch = async <T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    body: Patch,
    options: WriteOptions = {},
  ): Promise<T> => {
    const target = effectiveKey(session, kind, key);
    const encoded = encodePatch(kind, body);
    const { object } = await send<T>(session, {
      info: infoOf("patch", kind, target, options),
      method: "PATCH",
      path: objectPath(kind, target, options.subresource) + writeQuery(session, kind, options),
      body: encoded.body,
      contentType: encoded.contentType,
      repeatable: "never",
      options,
    });
    return object as T;
  };

  const remove = async (kind: Kind, key: ObjectKey, options: DeleteOptions = {}): Promise<void> => {
    const target = effectiveKey(session, kind, key);
    await send(session, {
      info: infoOf("delete", kind, target, options),
      method: "DELETE",
      path: objectPath(kind, target),
      body: deleteBody(options),
      repeatable: "idempotent",
      options,
    });
  };

  const applyPlain = async <T extends KubeObject>(
    kind: Kind<T>,
    object: T,
    options: ApplyOptions,
  ): Promise<T> => (await apply(session, kind, object, options)).object;

  return {
    async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
      const target = effectiveKey(session, kind, keyOf(object));
      requireNamespace(kind, target);
      const path =
        options.subresource === undefined
          ? collectionPath(kind, target.namespace)
          : objectPath(kind, target, options.subresource);
      const sent = await send<T>(session, {
        info: infoOf("create", kind, target, options),
        method: "POST",
        path: path + writeQuery(session, kind, options),
        body: JSON.stringify(object),
        repeatable: "never",
        options,
      });
      return sent.object as T;
    },
    update: (kind, object, options = {}) => update(session, kind, object, options),
    patch,
    apply: (kind, object, options = {}) => applyPlain(kind, object, options),
    applyOwned: (kind, object, options = {}) => applyPlain(kind, object, { ...options, force: true }),
    delete: remove,
    async deleteIfExists(kind, key, options) {
      try {
        await remove(kind, key, options);
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    },
    deleteCollection: (kind, options) => deleteCollection(session, kind, options),
    evict: (pod, options = {}) => evict(session, pod, options),
  };
}

async function update<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  object: T,
  options: UpdateOptions,
): Promise<T> {
  const target = effectiveKey(session, kind, keyOf(object));
  const versioned = (object.metadata.resourceVersion ?? "") !== "";
  if (!versioned && options.force !== true) {
    throw new InvalidRequestError(
      `${kind.kind} ${keyToString(target)}: update without metadata.resourceVersion; read the object first, or pass force`,
    );
  }
  const { text, unsafe } = encodeExact(object);
  if (unsafe) {
    throw new InvalidRequestError(
      `${kind.kind} ${keyToString(target)}: holds integers beyond 2^53-1, use a patch`,
    );
  }
  const sent = await send<T>(session, {
    info: infoOf("update", kind, target, options),
    method: "PUT",
    path: objectPath(kind, target, options.subresource) + writeQuery(session, kind, options),
    body: text,
    repeatable: versioned ? "idempotent" : "never",
    options,
  });
  return sent.object as T;
}

/** Server-side apply; fields that only the server may set are left out. */
export async function apply<T extends KubeObject>(
  session: Session,
  kind: Kind<T>,
  object: T,
  options: ApplyOptions,
): Promise<Applied<T>> {
  const target = effectiveKey(session, kind, keyOf(object));
  const fieldManager = options.fieldManager ?? session.fieldManager;
  checkFieldManager(fieldManager);
  const { managedFields, resourceVersion, uid, creationTimestamp, ...metadata } = object.metadata;
  const query = { fieldManager, force: options.force === true ? true : undefined };
  const sent = await send<T>(session, {
    info: infoOf("apply", kind, target, options),
    method: "PATCH",
    path: objectPath(kind, target, options.subresource) + writeQuery(session, kind, options, query),
    body: JSON.stringify({ ...object, metadata }),
    contentType: APPLY_TYPE,
    repeatable: "idempotent",
    options,
  });
  return { object: sent.object as T, created: sent.code === 201 };
}

function checkFieldManager(name: string): void {
  const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(name);
  if (printable && name.length <= MAX_FIELD_MANAGER) return;
  throw new InvalidRequestError(
    `fieldManager ${JSON.stringify(name)}: must be 1 to ${MAX_FIELD_MANAGER} printable characters`,
  );
}

async function deleteCollection(
  session: Session,
  kind: Kind,
  options: ListOptions & DeleteOptions,
): Promise<void> {
  const namespace = effectiveNamespace(session, kind, options.namespace);
  if (kind.namespaced && namespace === "") {
    throw new InvalidRequestError(
      `${kind.kind}: deleteCollection needs a namespace; the server has none for all`,
    );
  }
  const query = queryString({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  });
  await send(session, {
    info: infoOf("deletecollection", kind, { namespace, name: "" }, options),
    method: "DELETE",
    path: collectionPath(kind, namespace) + query,
    body: deleteBody(options),
    repeatable: "idempotent",
    options,
  });
}

async function evict(session: Session, pod: ObjectKey, options: DeleteOptions): Promise<void> {
  const kind: Kind = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
  const { kind: _, apiVersion: __, ...deleteOptions } = deleteOptionsOf(options);
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: pod.name, namespace: pod.namespace },
    deleteOptions,
  };
  await send(session, {
    info: infoOf("create", kind, pod, { ...options, subresource: "eviction" }),
    method: "POST",
    path: objectPath(kind, pod, "eviction"),
    body: JSON.stringify(eviction),
    repeatable: "never",
    options,
  });
}

/** Sends a write between its hooks; `object` is `undefined` when the server answered with a Status. */
async function send<T extends KubeObject>(
  session: Session,
  write: Write,
): Promise<{ object: T | undefined; code: number }> {
  const { info, options } = write;
  const answer = await session.requester.send({
    verb: info.verb,
    method: write.method,
    path: write.path,
    pool: poolOf(info.kind),
    accept: JSON_TYPE,
    userAgent: session.userAgent,
    body: write.body,
    contentType: write.contentType ?? JSON_TYPE,
    repeatable: write.repeatable,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    beforeSend: session.hooks.length === 0 ? undefined : () => beforeWrite(session, info),
  });
  const body = answer.text === "" ? undefined : (decodeJson(answer.text) as T);
  const object = body === undefined || body.kind === "Status" ? undefined : body;
  for (const hook of session.hooks) hook.afterWrite?.(info, object);
  return { object, code: answer.code };
}

function infoOf(
  verb: WriteInfo["verb"],
  kind: Kind,
  key: ObjectKey,
  options: { dryRun?: boolean; subresource?: string },
): WriteInfo {
  const info: WriteInfo = { verb, kind, key, dryRun: options.dryRun === true };
  if (options.subresource !== undefined) info.subresource = options.subresource;
  return info;
}

function writeQuery(
  session: Session,
  kind: Kind,
  options: WriteOptions,
  more: { fieldManager?: string; force?: boolean | undefined } = {},
): string {
  return queryString({
    dryRun: options.dryRun ? "All" : undefined,
    fieldValidation: options.fieldValidation ?? (isBuiltIn(kind) ? session.fieldValidation : undefined),
    fieldManager: options.fieldManager ?? session.fieldManager,
    ...more,
  });
}

function deleteOptionsOf(options: DeleteOptions): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: options.propagationPolicy ?? "Background",
    ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
    ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
  };
}

function deleteBody(options: DeleteOptions): string {
  return JSON.stringify(deleteOptionsOf(options));
}
