/** The kinds that this controller reads and writes. */
import { defineKind, type Kind } from "@quartet/core";
import type { Nacos } from "./api.gen.ts";
import type { Claim, ConfigObject, Job, Pod, Service, StatefulSet } from "./desired/k8s.ts";

export const NACOS: Kind<Nacos> = defineKind<Nacos>({
  group: "nacos.io",
  version: "v1alpha1",
  kind: "Nacos",
  plural: "nacos",
  namespaced: true,
});

export const STATEFUL_SET: Kind<StatefulSet> = defineKind<StatefulSet>({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
});

export const SERVICE: Kind<Service> = defineKind<Service>({
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
});

export const POD: Kind<Pod> = defineKind<Pod>({
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
});

export const CONFIG_MAP: Kind<ConfigObject> = defineKind<ConfigObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

export const SECRET: Kind<ConfigObject> = defineKind<ConfigObject>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
});

export const JOB: Kind<Job> = defineKind<Job>({
  group: "batch",
  version: "v1",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
});

export const CLAIM: Kind<Claim> = defineKind<Claim>({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
});

/** Kind of a configuration source or of the generated configuration. */
export type ConfigKind = "ConfigMap" | "Secret";

/** The watched kind behind {@link ConfigKind}. */
export function configKind(kind: ConfigKind): Kind<ConfigObject> {
  return kind === "Secret" ? SECRET : CONFIG_MAP;
}
