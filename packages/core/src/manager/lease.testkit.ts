/** An API server that stores Leases, for tests of leader election. */
import { ApiError, ConnectionError } from "../client/errors.ts";
import type { Lease, LeaseSpec } from "../kinds/index.ts";
import type { Kind, KubeObject, ObjectKey } from "../object.ts";

/** One write that arrived, with the time of arrival. */
interface LeaseWrite {
  verb: "create" | "update";
  at: number;
  spec: LeaseSpec;
}

export interface LeaseServer {
  readonly client: {
    get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<T>;
    create<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T>;
    update<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T>;
  };
  readonly writes: LeaseWrite[];
  /** All calls, reads included, in order: `get`, `create`, `update`. */
  readonly calls: string[];
  /** The stored Lease, if there is one. */
  lease(): Lease | undefined;
  /** Changes the stored Lease behind everybody's back; `undefined` deletes it. */
  put(spec: LeaseSpec | undefined): void;
  /** While set, every request fails with this. */
  failure: Error | undefined;
  /** While set, requests wait for it before they do anything. */
  gate: Promise<void> | undefined;
}

/** Connection failure as the client reports it. */
export function refused(): ConnectionError {
  return new ConnectionError({ code: "ECONNREFUSED", message: "refused", method: "GET", path: "/" });
}

function apiError(code: number, reason: string): ApiError {
  return new ApiError({
    code,
    reason,
    message: reason,
    details: { causes: [] },
    retryAfterSeconds: undefined,
    continueToken: undefined,
    method: "GET",
    path: "/",
  });
}

/** A server without a Lease; `now` gives the time of writes. */
export function leaseServer(now: () => number): LeaseServer {
  let stored: Lease | undefined;
  let version = 0;
  const begin = async (call: string): Promise<void> => {
    server.calls.push(call);
    if (server.gate !== undefined) await server.gate;
    if (server.failure !== undefined) throw server.failure;
  };
  const store = (verb: LeaseWrite["verb"], object: KubeObject): Lease => {
    const lease = structuredClone(object) as Lease;
    lease.metadata = { ...lease.metadata, uid: "lease-uid", resourceVersion: String(++version) };
    stored = lease;
    server.writes.push({ verb, at: now(), spec: structuredClone(lease.spec ?? {}) });
    return structuredClone(lease);
  };
  const server: LeaseServer = {
    client: {
      async get<T extends KubeObject>(): Promise<T> {
        await begin("get");
        if (stored === undefined) throw apiError(404, "NotFound");
        return structuredClone(stored) as KubeObject as T;
      },
      async create<T extends KubeObject>(_kind: Kind<T>, object: T): Promise<T> {
        await begin("create");
        if (stored !== undefined) throw apiError(409, "AlreadyExists");
        return store("create", object) as KubeObject as T;
      },
      async update<T extends KubeObject>(_kind: Kind<T>, object: T): Promise<T> {
        await begin("update");
        if (stored === undefined) throw apiError(404, "NotFound");
        if (object.metadata.resourceVersion !== stored.metadata.resourceVersion)
          throw apiError(409, "Conflict");
        return store("update", object) as KubeObject as T;
      },
    },
    writes: [],
    calls: [],
    lease: () => stored && structuredClone(stored),
    put(spec) {
      const metadata = { name: "x", uid: "lease-uid", resourceVersion: String(++version) };
      stored = spec && { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    },
    failure: undefined,
    gate: undefined,
  };
  return server;
}
