/** JSON texts of objects. A stored object never changes, so each is printed once, for all watchers and lists. */
import type { KubeObject } from "./object.ts";

export interface JsonCache {
  json(object: KubeObject): string;
  itemJson(object: KubeObject): string;
}

export function createJsonCache(): JsonCache {
  const texts = new WeakMap<KubeObject, string>();
  const itemJson = (object: KubeObject): string => {
    let text = texts.get(object);
    if (text === undefined) {
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
      text = JSON.stringify(rest);
      texts.set(object, text);
    }
    return text;
  };
  return {
    itemJson,
    json: (object) =>
      `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},${itemJson(object).slice(1)}`,
  };
}
