/** From a URL path to a resource. */
import type { Registry, ResourceType } from "../registry.ts";

export interface Route {
  type: ResourceType;
  namespace: string;
  name: string;
  subresource: string;
}

export interface PathParts {
  group: string;
  version: string;
  plural: string;
  namespace: string;
  name: string;
  subresource: string;
}

/** Splits a resource path; `undefined` when it is not one (discovery, health, …). */
export function parsePath(path: string): PathParts | undefined {
  const parts = path.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return undefined;
  const [group, version, ...rest] = core ? ["", ...parts.slice(1)] : parts.slice(1);
  if (version === undefined || rest.length === 0) return undefined;
  const decoded = rest.map((part) => decodeURIComponent(part));
  let namespace = "";
  // `namespaces/NAME/THING`, unless THING belongs to the namespace itself
  if (decoded[0] === "namespaces" && decoded.length > 2 && !["status", "finalize"].includes(decoded[2]!)) {
    namespace = decoded[1]!;
    decoded.splice(0, 2);
  }
  const [plural = "", name = "", subresource = "", ...more] = decoded;
  if (more.length > 0) return undefined;
  return { group: group!, version, plural, namespace, name, subresource };
}

/** The resource a path names, `undefined` when the server does not serve it. */
export function routeOf(registry: Registry, parts: PathParts): Route | undefined {
  const type = registry.find(parts.group, parts.version, parts.plural);
  if (type === undefined) return undefined;
  if (!type.namespaced && parts.namespace !== "") return undefined;
  if (parts.subresource !== "" && !type.subresources.includes(parts.subresource)) return undefined;
  const { namespace, name, subresource } = parts;
  return { type, namespace, name, subresource };
}

/** Kubernetes verb of a request. */
export function verbOf(method: string, name: string, watching: boolean, applies: boolean): string {
  switch (method) {
    case "GET":
    case "HEAD":
      // only collections are watched: of a single object it is a plain GET
      if (name !== "") return "get";
      return watching ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return applies ? "apply" : "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      return method.toLowerCase();
  }
}
