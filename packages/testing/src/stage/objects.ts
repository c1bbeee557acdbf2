/** Shorthand for the objects of a scenario's namespace, by a human user. */
import type { TestClient } from "../request.ts";

/** Any JSON object. */
export type JsonObject = Record<string, unknown>;

/** `Types` gives the form of an object by the plural name of its kind. */
export interface Objects<Types> {
  get<R extends keyof Types & string>(resource: R, name: string): Promise<Types[R]>;
  /** `undefined` when there is none. */
  find<R extends keyof Types & string>(resource: R, name: string): Promise<Types[R] | undefined>;
  list<R extends keyof Types & string>(resource: R): Promise<Types[R][]>;
  create(resource: keyof Types & string, name: string, body: JsonObject): Promise<void>;
  /** JSON merge patch. */
  patch(resource: keyof Types & string, name: string, body: JsonObject): Promise<void>;
  delete(resource: keyof Types & string, name: string, query?: string): Promise<void>;
}

/** Objects in a namespace; `groups` gives the first part of the path of each plural, such as `/apis/apps/v1`. */
export function createObjects<Types>(
  { client, namespace }: { readonly client: TestClient; readonly namespace: string },
  groups: Readonly<Record<keyof Types & string, string>>,
): Objects<Types> {
  const path = (resource: keyof Types & string, name = ""): string =>
    `${groups[resource]}/namespaces/${namespace}/${resource}${name === "" ? "" : `/${name}`}`;
  return {
    get: (resource, name) => client.ok("GET", path(resource, name)),
    async find<R extends keyof Types & string>(resource: R, name: string) {
      const { code, body } = await client.request<Types[R]>("GET", path(resource, name));
      if (code !== 200 && code !== 404) throw new Error(`GET ${path(resource, name)}: ${code}`);
      return code === 404 ? undefined : body;
    },
    async list<R extends keyof Types & string>(resource: R) {
      return (await client.ok<{ items: Types[R][] }>("GET", path(resource))).items;
    },
    async create(resource, name, body) {
      const { metadata, ...rest } = body;
      await client.ok("POST", path(resource), { ...rest, metadata: { ...(metadata as JsonObject), name } });
    },
    async patch(resource, name, body) {
      await client.ok("PATCH", path(resource, name), body, { contentType: "application/merge-patch+json" });
    },
    async delete(resource, name, query = "") {
      await client.ok("DELETE", path(resource, name) + query);
    },
  };
}
