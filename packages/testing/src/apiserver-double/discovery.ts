/** What the server says about itself: groups, versions, resources, health, a minimal OpenAPI document. */
import type { Answer } from "./call.ts";
import type { JsonObject } from "./json.ts";
import { apiVersionOf, type ResourceType } from "./registry.ts";
import type { Server } from "./server.ts";
import { Failure } from "./status.ts";

const CORE_GROUP = { versions: ["v1"] };

function groupVersion(group: string, version: string): JsonObject {
  return { groupVersion: group === "" ? version : `${group}/${version}`, version };
}

function groupOf(server: Server, name: string): JsonObject {
  const versions = server.registry.versions(name).map((version) => groupVersion(name, version));
  return { name, versions, preferredVersion: versions[0] };
}

/** Subresources whose body is not the parent kind. */
const FOREIGN: Record<string, JsonObject> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale" },
  eviction: { group: "policy", version: "v1", kind: "Eviction" },
  binding: { kind: "Binding" },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
};

const SUBRESOURCE_VERBS: Record<string, string[]> = {
  eviction: ["create"],
  binding: ["create"],
  token: ["create"],
  finalize: ["update"],
};

function resourceEntries(type: ResourceType): JsonObject[] {
  return [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: type.verbs,
      ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
      ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    },
    ...type.subresources.map((subresource) => ({
      name: `${type.plural}/${subresource}`,
      singularName: "",
      namespaced: type.namespaced,
      ...(FOREIGN[subresource] ?? { kind: type.kind }),
      verbs: SUBRESOURCE_VERBS[subresource] ?? ["get", "patch", "update"],
    })),
  ];
}

function resourceList(server: Server, group: string, version: string): JsonObject | undefined {
  const types = server.registry.all().filter((type) => type.group === group && type.version === version);
  if (types.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: types.flatMap(resourceEntries),
  };
}

function versionInfo(version: string): JsonObject {
  const [, major = "1", minor = "0"] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  return { major, minor, gitVersion: version, gitCommit: "", gitTreeState: "", platform: "linux/amd64" };
}

const DRY_RUN_AND_VALIDATION = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
  name,
  in: "query",
  schema: { type: name === "force" ? "boolean" : "string" },
}));

/** Enough for kubectl to learn that the server validates fields itself. */
function openApi(server: Server, group: string, version: string): JsonObject {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths: JsonObject = {};
  for (const type of server.registry.all()) {
    if (type.group !== group || type.version !== version || !type.verbs.includes("patch")) continue;
    const place = type.namespaced
      ? `${root}/namespaces/{namespace}/${type.plural}`
      : `${root}/${type.plural}`;
    const kind = { group, version, kind: type.kind };
    const operation = { "x-kubernetes-group-version-kind": kind, responses: {} };
    paths[place] = {
      post: { ...operation, "x-kubernetes-action": "post", parameters: DRY_RUN_AND_VALIDATION },
    };
    paths[`${place}/{name}`] = {
      patch: { ...operation, "x-kubernetes-action": "patch", parameters: DRY_RUN_AND_VALIDATION },
    };
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: server.settings.version }, paths };
}

function openApiIndex(server: Server): JsonObject {
  const places = new Set(
    server.registry.all().map((type) => (type.group === "" ? "api/" : "apis/") + apiVersionOf(type)),
  );
  return {
    paths: Object.fromEntries(
      [...places].map((place) => [place, { serverRelativeURL: `/openapi/v3/${place}` }]),
    ),
  };
}

const HEALTH = ["/healthz", "/livez", "/readyz"];

/** Answers a non-resource path, `undefined` for an unknown one. */
export function discovery(server: Server, path: string, address: string): Answer | undefined {
  const json = (body: unknown): Answer => ({ code: 200, body });
  const parts = path.split("/").filter((part) => part !== "");
  if (HEALTH.includes(`/${parts[0]}`))
    return { code: 200, text: "ok", contentType: "text/plain; charset=utf-8" };
  if (path === "/version" || path === "/version/") return json(versionInfo(server.settings.version));
  if (path === "/api" || path === "/api/") {
    return json({
      kind: "APIVersions",
      ...CORE_GROUP,
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
    });
  }
  if (path === "/apis" || path === "/apis/") {
    const names = [...new Set(server.registry.all().map((type) => type.group))].filter((name) => name !== "");
    return json({
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: names.map((name) => groupOf(server, name)),
    });
  }
  if (path === "/openapi/v3") return json(openApiIndex(server));
  if (parts[0] === "openapi" && parts[1] === "v3") {
    const [, , api, first = "", second = ""] = parts;
    return json(api === "api" ? openApi(server, "", first) : openApi(server, first, second));
  }
  if (parts[0] === "api" && parts.length === 2) {
    const found = resourceList(server, "", parts[1]!);
    return found === undefined ? undefined : json(found);
  }
  if (parts[0] === "apis" && parts.length === 2 && server.registry.versions(parts[1]!).length > 0) {
    return json({ kind: "APIGroup", apiVersion: "v1", ...groupOf(server, parts[1]!) });
  }
  if (parts[0] === "apis" && parts.length === 3) {
    const found = resourceList(server, parts[1]!, parts[2]!);
    return found === undefined ? undefined : json(found);
  }
  return undefined;
}

export function pageNotFound(): Answer {
  return { code: 404, text: "404 page not found\n", contentType: "text/plain; charset=utf-8" };
}

/** A path below a served group that is no resource. */
export function unknownResource(): Failure {
  return new Failure(404, "NotFound", "the server could not find the requested resource", {});
}
