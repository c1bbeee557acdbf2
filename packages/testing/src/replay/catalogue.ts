/** Paths of objects of any kind, by what the API server says that it serves. */
import type { TestClient } from "../request.ts";

export interface Catalogue {
  /** Path of an object, or without a name of its kind's collection. Rejects for a kind that is not served. */
  path(object: { apiVersion: string; kind: string }, namespace: string, name?: string): Promise<string>;
}

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

export function openCatalogue(client: TestClient): Catalogue {
  const lists = new Map<string, Promise<ResourceList>>();
  const listOf = (apiVersion: string): Promise<ResourceList> => {
    const known = lists.get(apiVersion);
    if (known !== undefined) return known;
    const list = client.request<ResourceList>("GET", rootOf(apiVersion)).then(({ body }) => body);
    lists.set(apiVersion, list);
    return list;
  };
  return {
    async path({ apiVersion, kind }, namespace, name) {
      const { resources = [] } = await listOf(apiVersion);
      const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
      if (found === undefined)
        throw new Error(
          `${kind} of ${apiVersion}: the API server does not serve this kind; correct the object`,
        );
      const scope = found.namespaced ? `/namespaces/${namespace}` : "";
      return `${rootOf(apiVersion)}${scope}/${found.name}${name === undefined ? "" : `/${name}`}`;
    },
  };
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}
