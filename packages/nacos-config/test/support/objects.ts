/** Shorthand for the objects of scenarios. */
import type { TestClient } from "@quartet/testing";
import type { Nacos } from "../../src/api.gen.ts";
import type { ConfigObject, Job, JsonMap, Pod, Service, StatefulSet } from "../../src/desired/k8s.ts";
import type { Stage } from "./stage.ts";

/** Kinds by the last part of their path. */
const GROUPS: Readonly<Record<string, string>> = {
  configmaps: "/api/v1",
  secrets: "/api/v1",
  services: "/api/v1",
  pods: "/api/v1",
  persistentvolumeclaims: "/api/v1",
  statefulsets: "/apis/apps/v1",
  jobs: "/apis/batch/v1",
  nacos: "/apis/nacos.io/v1alpha1",
  leases: "/apis/coordination.k8s.io/v1",
  events: "/apis/events.k8s.io/v1",
};

interface Types {
  configmaps: ConfigObject;
  secrets: ConfigObject;
  services: Service;
  pods: Pod;
  statefulsets: StatefulSet;
  jobs: Job;
  nacos: Nacos;
  persistentvolumeclaims: ConfigObject & { spec: JsonMap };
  leases: JsonMap & { metadata: JsonMap };
  events: {
    reason: string;
    type: string;
    note: string;
    regarding: { kind: string; name: string };
    metadata: JsonMap;
  };
}
export type Resource = keyof Types;

export interface Objects {
  get<R extends Resource>(resource: R, name: string): Promise<Types[R]>;
  /** `undefined` when there is none. */
  find<R extends Resource>(resource: R, name: string): Promise<Types[R] | undefined>;
  list<R extends Resource>(resource: R): Promise<Types[R][]>;
  create(resource: Resource, name: string, body: JsonMap): Promise<void>;
  /** JSON merge patch. */
  patch(resource: Resource, name: string, body: JsonMap): Promise<void>;
  delete(resource: Resource, name: string, query?: string): Promise<void>;
  /** A ConfigMap. */
  configMap(name: string, data: Record<string, string>): Promise<void>;
  /** A Nacos resource with the image of the rule book's base objects. */
  nacos(name: string, spec: JsonMap, metadata?: JsonMap): Promise<void>;
}

export const IMAGE = "nacos/nacos-server:v2.4.3";

/** The objects of a stage's namespace. */
export function objectsOf({ client, namespace }: Pick<Stage, "client" | "namespace">): Objects {
  const path = (resource: Resource, name = ""): string =>
    `${GROUPS[resource]}/namespaces/${namespace}/${resource}${name === "" ? "" : `/${name}`}`;
  const objects: Objects = {
    get: (resource, name) => client.ok("GET", path(resource, name)),
    async find<R extends Resource>(resource: R, name: string) {
      const { code, body } = await client.request<Types[R]>("GET", path(resource, name));
      return code === 404 ? undefined : body;
    },
    async list<R extends Resource>(resource: R) {
      return (await client.ok<{ items: Types[R][] }>("GET", path(resource))).items;
    },
    async create(resource, name, body) {
      const { metadata, ...rest } = body;
      await client.ok("POST", path(resource), { ...rest, metadata: { ...(metadata as JsonMap), name } });
    },
    patch: (resource, name, body) => patch(client, path(resource, name), body),
    delete: async (resource, name, query = "") =>
      void (await client.ok("DELETE", path(resource, name) + query)),
    configMap: (name, data) =>
      objects.create("configmaps", name, { apiVersion: "v1", kind: "ConfigMap", data }),
    nacos: (name, spec, metadata = {}) =>
      objects.create("nacos", name, {
        apiVersion: "nacos.io/v1alpha1",
        kind: "Nacos",
        metadata,
        spec: { image: IMAGE, ...spec },
      }),
  };
  return objects;
}

async function patch(client: TestClient, path: string, body: JsonMap): Promise<void> {
  await client.ok("PATCH", path, body, { contentType: "application/merge-patch+json" });
}

/** Sources and resource of the rule book's base objects; the resource's name is free. */
export async function createBase(objects: Objects, name = "demo", spec: JsonMap = {}): Promise<void> {
  await objects.configMap("ic", { "internal.properties": "server.port=8848\n" });
  await objects.configMap("uc", { "user.properties": "nacos.console.ui.enabled=true\n" });
  await objects.nacos(name, {
    type: "cluster",
    replicas: 3,
    internalConfigRef: { name: "ic" },
    userConfigRef: { name: "uc" },
    finalConfigName: `${name}-final`,
    ...spec,
  });
}

/** Repeats a check until it passes, and hands on what it returns; after the time limit its last failure is thrown. */
export async function eventually<T>(check: () => Promise<T>, withinMs = 20_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The condition of a type among the resource's standard ones. */
export function conditionOf(
  resource: Nacos,
  type: string,
): { status?: string; reason?: string; message?: string } {
  return resource.status?.operatorConditions?.find((condition) => condition.type === type) ?? {};
}
