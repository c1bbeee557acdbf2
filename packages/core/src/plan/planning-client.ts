/** A client whose writes are dry runs: the server judges them, nothing is stored, and each is told. */
import { isForbidden, isNotFound } from "../client/errors.ts";
import { isReadOnly } from "../client/raw.ts";
import type { Client, WriteOptions } from "../client/types.ts";
import { type Kind, type KubeObject, keyOf, type ObjectKey } from "../object.ts";

/** A write that would have been made. */
export interface PlannedWrite {
  /** For example `apply`, or the method of a raw request. */
  readonly verb: string;
  /** A write of the status: it says how things are, not what would be done, and is not told. */
  readonly quiet?: true;
  /** Absent for raw requests. */
  readonly kind?: Kind;
  readonly key?: ObjectKey;
  readonly subresource?: string;
  /** Path of a raw request. */
  readonly path?: string;
  /** The object as the server has it; absent when there is none. */
  readonly before?: unknown;
  /** What it would be; absent when it would go. */
  readonly after?: unknown;
}

/**
 * The same client with every write turned into a dry run. Costs one read per planned change of an object.
 */
export function planningClient(client: Client, onPlanned: (write: PlannedWrite) => void): Client {
  /** Sends a change of one object between a read and a report; what the caller asked for as a dry run is its own. */
  const change = async <T extends KubeObject>(
    write: { verb: string; kind: Kind<T>; key: ObjectKey; sent?: T },
    options: WriteOptions,
    send: (options: WriteOptions) => Promise<T>,
  ): Promise<T> => {
    const { verb, kind, key, sent } = write;
    const { subresource, signal } = options;
    if (options.dryRun === true) return send(options);
    if (subresource === "status") return quietly(send({ ...options, dryRun: true }));
    const before = verb === "create" ? undefined : await live(client, kind, key, signal);
    const answer = await send({ ...options, dryRun: true });
    if (before === UNKNOWN) {
      onPlanned({ verb, kind: kind as unknown as Kind, key, ...(subresource && { subresource }) });
      return answer;
    }
    // What a new object is completed with is the server's affair, and partly random.
    const after = before === undefined && sent !== undefined ? sent : answer;
    const told = { verb, kind: kind as unknown as Kind, key, after };
    onPlanned({ ...told, ...(subresource && { subresource }), ...(before && { before }) });
    return answer;
  };

  /** Reports a status write, unless there was nothing to write. */
  const quietly = async <T>(write: Promise<T>): Promise<T> => {
    const answer = await write;
    if (answer !== undefined) onPlanned({ verb: "status", quiet: true });
    return answer;
  };

  return {
    ...client,
    create: (kind, object, options = {}) =>
      change({ verb: "create", kind, key: keyOf(object), sent: object }, options, (dry) =>
        client.create(kind, object, dry),
      ),
    update: (kind, object, options = {}) =>
      change({ verb: "update", kind, key: keyOf(object), sent: object }, options, (dry) =>
        client.update(kind, object, { ...options, ...dry }),
      ),
    patch: (kind, key, body, options = {}) =>
      change({ verb: "patch", kind, key }, options, (dry) => client.patch(kind, key, body, dry)),
    apply: (kind, object, options = {}) =>
      change({ verb: "apply", kind, key: keyOf(object), sent: object }, options, (dry) =>
        client.apply(kind, object, { ...options, ...dry }),
      ),
    applyOwned: (kind, object, options = {}) =>
      change({ verb: "apply", kind, key: keyOf(object), sent: object }, options, (dry) =>
        client.applyOwned(kind, object, dry),
      ),
    updateStatus: (kind, object, options) =>
      quietly(client.updateStatus(kind, object, { ...options, dryRun: true })),
    patchStatus: (kind, current, next, options) =>
      quietly(client.patchStatus(kind, current, next, { ...options, dryRun: true })),
    ...deletions(client, onPlanned),
    async raw(method, path, body, options) {
      if (isReadOnly(method, path)) return client.raw(method, path, body, options);
      const answer = await client.raw(method, withDryRun(path), body, options);
      onPlanned({ verb: method, path });
      return answer;
    },
    forController: (name, hooks) => planningClient(client.forController(name, hooks), onPlanned),
  };
}

function deletions(
  client: Client,
  onPlanned: (write: PlannedWrite) => void,
): Pick<Client, "delete" | "deleteIfExists" | "deleteCollection" | "evict"> {
  return {
    async delete(kind, key, options = {}) {
      await client.delete(kind, key, { ...options, dryRun: true });
      if (options.dryRun !== true) onPlanned({ verb: "delete", kind, key });
    },
    async deleteIfExists(kind, key, options = {}) {
      const existed = await client.deleteIfExists(kind, key, { ...options, dryRun: true });
      if (existed && options.dryRun !== true) onPlanned({ verb: "delete", kind, key });
      return existed;
    },
    async deleteCollection(kind, options) {
      await client.deleteCollection(kind, { ...options, dryRun: true });
      const key = { namespace: options.namespace ?? "", name: "" };
      if (options.dryRun !== true) onPlanned({ verb: "deletecollection", kind, key });
    },
    async evict(pod, options = {}) {
      await client.evict(pod, { ...options, dryRun: true });
      if (options.dryRun !== true) onPlanned({ verb: "evict", path: `pods ${pod.namespace}/${pod.name}` });
    },
  };
}

const UNKNOWN: unique symbol = Symbol("not readable");

async function live<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  signal: AbortSignal | undefined,
): Promise<T | typeof UNKNOWN | undefined> {
  try {
    return await client.get(kind, key, signal === undefined ? {} : { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    // Who may write need not be allowed to read; then it is told without what it changes.
    if (isForbidden(error)) return UNKNOWN;
    throw error;
  }
}

const withDryRun = (path: string): string => `${path}${path.includes("?") ? "&" : "?"}dryRun=All`;
