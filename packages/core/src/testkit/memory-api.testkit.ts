/** Objects in memory behind as much of a `Client` as helpers and reconciles of tests use. */
import jsonPatch from "fast-json-patch";
import { ApiError } from "../client/errors.ts";
import { mergeDiff, sameJson } from "../client/merge-diff.ts";
import type { Client, JsonPatchOperation, Patch } from "../client/types.ts";
import { type Kind, type KubeObject, keyOf, keyToString, type ObjectKey } from "../object.ts";

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
  const objects = new Map<string, Stored>();
  const requests: string[] = [];
  let version = 0;
  const idOf = (kind: Kind, key: ObjectKey): string => `${kind.plural}.${kind.group} ${keyToString(key)}`;
  const find = (kind: Kind, key: ObjectKey): Stored | undefined => {
    const found = objects.get(idOf(kind, key));
    return found && structuredClone(found);
  };
  const need = (kind: Kind, key: ObjectKey): Stored => find(kind, key) ?? fail(404, "NotFound", kind, key);
  /** Stores an object as a server would: a write that changes nothing leaves the version as it is. */
  const store = (kind: Kind, next: Stored): Stored => {
    const key = keyOf(next);
    const old = find(kind, key);
    const { resourceVersion, ...metadata } = next.metadata;
    if (metadata.finalizers?.length === 0) delete metadata.finalizers;
    if (old !== undefined) {
      const { resourceVersion: before, ...rest } = old.metadata;
      if (sameJson({ ...old, metadata: rest }, { ...next, metadata })) return old;
    }
    const changed = old === undefined || !sameJson(old.spec, next.spec);
    version += 1;
    const stored = {
      ...next,
      metadata: {
        ...metadata,
        uid: old?.metadata.uid ?? metadata.uid ?? `uid-${version}`,
        generation: (old?.metadata.generation ?? 0) + (changed ? 1 : 0),
        resourceVersion: String(version),
      },
    };
    objects.set(idOf(kind, key), structuredClone(stored));
    if (metadata.deletionTimestamp !== undefined && metadata.finalizers === undefined) {
      objects.delete(idOf(kind, key));
    }
    return stored;
  };
  const remove = (kind: Kind, key: ObjectKey): void => {
    const object = need(kind, key);
    store(kind, { ...object, metadata: { ...object.metadata, deletionTimestamp: DELETED_AT } });
  };
  const patch = (kind: Kind, key: ObjectKey, change: Patch): Stored => {
    const old = need(kind, key);
    const next = patched(kind, key, old, change);
    if (next.metadata.uid !== old.metadata.uid) fail(409, "Conflict", kind, key);
    if (next.metadata.resourceVersion !== old.metadata.resourceVersion) fail(409, "Conflict", kind, key);
    return store(kind, next);
  };
  const api: Omit<MemoryApi, "client"> = {
    requests,
    put: (kind, object) => store(kind, object) as never,
    get: (kind, key) => find(kind, key) as never,
    list: (kind) =>
      [...objects]
        .filter(([id]) => id.startsWith(`${kind.plural}.${kind.group} `))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => structuredClone(object)) as never[],
    remove,
  };
  const told = (verb: string, kind: Kind, key: ObjectKey): void =>
    void requests.push(`${verb} ${kind.plural}/${key.name}`);
  const client: Partial<Client> = {
    async get(kind, key) {
      told("get", kind, key);
      return need(kind, key) as never;
    },
    async create(kind, object) {
      const key = keyOf(object);
      told("create", kind, key);
      if (find(kind, key) !== undefined) fail(409, "AlreadyExists", kind, key);
      return store(kind, object) as never;
    },
    async patch(kind, key, change) {
      told("patch", kind, key);
      return patch(kind, key, change) as never;
    },
    async patchStatus(kind, current, next) {
      const key = keyOf(current);
      if (sameJson(current.status ?? {}, next)) return undefined;
      told("patch status", kind, key);
      return patch(kind, key, {
        type: "merge",
        body: { status: mergeDiff(current.status ?? {}, next) },
      }) as never;
    },
    async delete(kind, key) {
      told("delete", kind, key);
      remove(kind, key);
    },
  };
  client.forController = () => client as Client;
  return { ...api, client: client as Client };
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
