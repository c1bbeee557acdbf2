/** The calls that every collection of objects of the API has: list, create, change, delete. */
import type { ApiClient } from "./client.ts";
import { listAll } from "./lists.ts";
import { orAbsent } from "./or-absent.ts";

/** Objects of one kind in an account. */
export interface Collection<R> {
  /** All that the filter lets through, from all pages. */
  list(filter?: Readonly<Record<string, string | boolean>>): Promise<R[]>;
  /** Nothing when there is none of that identifier. */
  get(id: string): Promise<R | undefined>;
  create(body: unknown): Promise<R>;
  /** PATCH: members that the body lacks stay. */
  patch(id: string, body: unknown): Promise<R>;
  /** PUT: the body is the whole object. */
  put(id: string, body: unknown): Promise<R>;
  /** One that is gone already is no error. */
  remove(id: string): Promise<void>;
}

/** @param path below the base, its parts encoded */
export function createCollection<R>(client: ApiClient, path: string, perPage: number): Collection<R> {
  const one = (id: string): string => `${path}/${encodeURIComponent(id)}`;
  const write = async (method: "POST" | "PUT" | "PATCH", at: string, body: unknown): Promise<R> =>
    (await client.call({ method, path: at, body })).result as R;
  return {
    list: (filter = {}) => listAll(client, { path, query: filter }, perPage),
    get: (id) => orAbsent(client.call({ method: "GET", path: one(id) }).then(({ result }) => result as R)),
    create: (body) => write("POST", path, body),
    patch: (id, body) => write("PATCH", one(id), body),
    put: (id, body) => write("PUT", one(id), body),
    remove: async (id) => void (await orAbsent(client.call({ method: "DELETE", path: one(id) }))),
  };
}

/** A part of an object that is read and written as a whole, such as the CORS rules of a bucket. */
export interface Setting<R> {
  /** Nothing when it was never set. */
  get(): Promise<R | undefined>;
  put(body: R): Promise<void>;
  remove(): Promise<void>;
}

/** @param path below the base, its parts encoded */
export function createSetting<R>(client: ApiClient, path: string): Setting<R> {
  return {
    get: () => orAbsent(client.call({ method: "GET", path }).then(({ result }) => result as R)),
    put: async (body) => void (await client.call({ method: "PUT", path, body })),
    remove: async () => void (await orAbsent(client.call({ method: "DELETE", path }))),
  };
}
