/** Shorthand for the objects of scenarios. */

import type { ConfigObject, Job, JsonMap, Pod, Service, StatefulSet } from "@quartet/core/kinds";
import { type Objects as CommonObjects, createObjects, eventually } from "@quartet/testing/stage";
import { expect } from "vitest";
import type { Nacos } from "../../src/api.gen.ts";
import type { RecreateRecord } from "../../src/desired/recreate.ts";
import type { Stage } from "./stage.ts";

export { eventually } from "@quartet/testing/stage";

/** Kinds by the last part of their path. */
const GROUPS: Readonly<Record<Resource, string>> = {
  configmaps: "/api/v1",
  secrets: "/api/v1",
  services: "/api/v1",
  pods: "/api/v1",
  persistentvolumeclaims: "/api/v1",
  statefulsets: "/apis/apps/v1",
  controllerrevisions: "/apis/apps/v1",
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
  controllerrevisions: RecreateRecord;
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

export interface Objects extends CommonObjects<Types> {
  /** A ConfigMap. */
  configMap(name: string, data: Record<string, string>): Promise<void>;
  /** A Nacos resource with the image of the rule book's base objects. */
  nacos(name: string, spec: JsonMap, metadata?: JsonMap): Promise<void>;
}

export const IMAGE = "nacos/nacos-server:v2.4.3";

/** The objects of a stage's namespace. */
export function objectsOf(stage: Pick<Stage, "client" | "namespace">): Objects {
  const objects = createObjects<Types>(stage, GROUPS);
  return {
    ...objects,
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

/** The condition of a type among the resource's standard ones. */
export function conditionOf(
  resource: Nacos,
  type: string,
): { status?: string; reason?: string; message?: string } {
  return resource.status?.operatorConditions?.find((condition) => condition.type === type) ?? {};
}

/** The entries of `status.conditions` that are about nodes. */
export function nodesOf({ status }: Nacos): NonNullable<NonNullable<Nacos["status"]>["conditions"]> {
  return (status?.conditions ?? []).filter(({ podName }) => podName !== undefined);
}

/** The resource once it is in a phase. */
export function inPhase(objects: Objects, phase: string, name = "demo"): Promise<Nacos> {
  return eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(resource.status?.phase).toBe(phase);
    return resource;
  }, 60_000);
}

export function quiet(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
