/** Objects in memory behind as much of a `Client` as helpers and reconciles of tests use. */
import jsonPatch from "fast-json-patch";
import { ApiError } from "../client/errors.ts";
import { mergeDiff, sameJson } from "../client/merge-diff.ts";
import type { Client, JsonPatchOperation, Patch } from "../client/types.ts";
import {
  type Kind,
  type KubeObject,
  keyOf,
  keyToString,
  type ObjectKey,
  type ObjectMeta,
} from "../object.ts";

type Stored = KubeObject & { spec?: unknown; status?: unknown };

export interface MemoryApi {
  readonly client: Client;
  /** Every request as `verb plural/name`, in order. */
  readonly requests: string[];
  /** Writes without a request, as somebody else would. */
  put<T extends KubeObject>(kind: Kind<T>, object: T): T;
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): T | undefined;
  /** All objects of a kind in order of their keys. */
  list<T extends KubeObject>(kind: Kind<T>): T[];
  /** Starts a deletion: an object without finalizers is gone, one with them gets its deletion timestamp. */
  remove(kind: Kind, key: ObjectKey): void;
}

const DELETED_AT = "2026-01-01T00:00:00Z";

export function memoryApi(): MemoryApi {
  const store = memoryStore();
  const requests: string[] = [];
  return {
    requests,
    client: memoryClient(store, requests),
    put: (kind, object) => store.put(kind, object) as never,
    get: (kind, key) => store.find(kind, key) as never,
    list: (kind) => store.list(kind) as never,
    remove: store.remove,
  };
}

interface MemoryStore {
  find(kind: Kind, key: ObjectKey): Stored | undefined;
  need(kind: Kind, key: ObjectKey): Stored;
  list(kind: Kind): Stored[];
  put(kind: Kind, next: Stored): Stored;
  remove(kind: Kind, key: ObjectKey): void;
}

function memoryStore(): MemoryStore {
  const objects = new Map<string, Stored>();
  let version = 0;
  const idOf = (kind: Kind, key: ObjectKey): string => `${kind.plural}.${kind.group} ${keyToString(key)}`;
  const find = (kind: Kind, key: ObjectKey): Stored | undefined => {
    const found = objects.get(idOf(kind, key));
    return found && structuredClone(found);
  };
  const need = (kind: Kind, key: ObjectKey): Stored => find(kind, key) ?? fail(404, "NotFound", kind, key);
  /** A write that changes nothing leaves the version as it is. */
  const put = (kind: Kind, next: Stored): Stored => {
    const key = keyOf(next);
    const old = find(kind, key);
    const metadata = ownMetadata(next);
    if (old !== undefined && sameJson({ ...old, metadata: ownMetadata(old) }, { ...next, metadata }))
      return old;
    const respecified = old === undefined || !sameJson(old.spec, next.spec);
    version += 1;
    metadata.uid = old?.metadata.uid ?? metadata.uid ?? `uid-${version}`;
    metadata.generation = (old?.metadata.generation ?? 0) + (respecified ? 1 : 0);
    metadata.resourceVersion = String(version);
    const stored = { ...next, metadata };
    const gone = metadata.deletionTimestamp !== undefined && metadata.finalizers === undefined;
    if (gone) objects.delete(idOf(kind, key));
    else objects.set(idOf(kind, key), structuredClone(stored));
    return stored;
  };
  return {
    find,
    need,
    put,
    list: (kind) =>
      [...objects]
        .filter(([id]) => id.startsWith(`${kind.plural}.${kind.group} `))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => structuredClone(object)),
    remove(kind, key) {
      const object = need(kind, key);
      put(kind, { ...object, metadata: { ...object.metadata, deletionTimestamp: DELETED_AT } });
    },
  };
}

/** Metadata without its version; no finalizers are no list of them. */
function ownMetadata({ metadata }: KubeObject): ObjectMeta {
  const { resourceVersion: _version, ...own } = metadata;
  if (own.finalizers?.length === 0) delete own.finalizers;
  return own;
}

function memoryClient(store: MemoryStore, requests: string[]): Client {
  const told = (verb: string, kind: Kind, key: ObjectKey): void =>
    void requests.push(`${verb} ${kind.plural}/${key.name}`);
  const patch = (kind: Kind, key: ObjectKey, change: Patch): Stored => {
    const old = store.need(kind, key);
    const next = patched(kind, key, old, change);
    if (next.metadata.uid !== old.metadata.uid) fail(409, "Conflict", kind, key);
    if (next.metadata.resourceVersion !== old.metadata.resourceVersion) fail(409, "Conflict", kind, key);
    return store.put(kind, next);
  };
  const client: Partial<Client> = {
    async get(kind, key) {
      told("get", kind, key);
      return store.need(kind, key) as never;
    },
    async create(kind, object, options) {
      const key = keyOf(object);
      told("create", kind, key);
      if (store.find(kind, key) !== undefined) fail(409, "AlreadyExists", kind, key);
      if (options?.dryRun) return object;
      return store.put(kind, object) as never;
    },
    async update(kind, object) {
      const key = keyOf(object);
      told("update", kind, key);
      const { uid, resourceVersion } = store.need(kind, key).metadata;
      const wanted = object.metadata;
      if ((wanted.resourceVersion ?? resourceVersion) !== resourceVersion || (wanted.uid ?? uid) !== uid)
        fail(409, "Conflict", kind, key);
      return store.put(kind, object) as never;
    },
    async deleteIfExists(kind, key, { preconditions = {} } = {}) {
      told("delete", kind, key);
      const found = store.find(kind, key);
      if (found === undefined) return false;
      if ((preconditions.uid ?? found.metadata.uid) !== found.metadata.uid) fail(409, "Conflict", kind, key);
      store.remove(kind, key);
      return true;
    },
    async patch(kind, key, change) {
      told("patch", kind, key);
      return patch(kind, key, change) as never;
    },
    async patchStatus(kind, current, next) {
      const key = keyOf(current);
      const before = current.status ?? {};
      if (sameJson(before, next)) return undefined;
      told("patch status", kind, key);
      return patch(kind, key, { type: "merge", body: { status: mergeDiff(before, next) } }) as never;
    },
    async delete(kind, key) {
      told("delete", kind, key);
      store.remove(kind, key);
    },
    forController: () => client as Client,
  };
  return client as Client;
}

function patched(kind: Kind, key: ObjectKey, old: Stored, change: Patch): Stored {
  if (change.type !== "json") return merged(old, change.body) as Stored;
  const document = structuredClone(old);
  for (const operation of change.operations) {
    if (isAbsenceTest(document, operation)) continue;
    try {
      jsonPatch.applyOperation(document, operation as jsonPatch.Operation, true);
    } catch {
      fail(422, "Invalid", kind, key);
    }
  }
  return document;
}

/** To the server, `null` equals what is not there. */
function isAbsenceTest(document: object, { op, path, value }: JsonPatchOperation): boolean {
  return op === "test" && value === null && jsonPatch.getValueByPointer(document, path) === undefined;
}

/** RFC 7396. */
function merged(target: unknown, body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const base = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(body)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

function fail(code: number, reason: string, kind: Kind, key: ObjectKey): never {
  throw new ApiError({
    code,
    reason,
    message: `${kind.plural} "${key.name}": ${reason}`,
    details: { name: key.name, kind: kind.plural, causes: [] },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "",
    path: "",
  });
}
