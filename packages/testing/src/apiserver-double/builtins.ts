/** Table of the built-in resources. */

import { crdStrategy } from "./crd/strategy.ts";
import { coreEvent, storedEvent } from "./events.ts";
import { record, text } from "./json.ts";
import type { Column, ResourceType, Strategy } from "./registry.ts";
import type { BuiltinSchemas, Schema } from "./schemas/schema.ts";
import { strategy } from "./strategies/base.ts";
import * as cluster from "./strategies/cluster.ts";
import { configMap, secret } from "./strategies/configuration.ts";
import { pod } from "./strategies/pods.ts";
import * as services from "./strategies/services.ts";
import * as storage from "./strategies/storage.ts";
import * as workloads from "./strategies/workloads.ts";
import { builtinColumns } from "./table/columns.ts";

const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

interface Row {
  kind: string;
  plural?: string;
  scope?: "cluster";
  short?: string[];
  categories?: string[];
  strategy?: Strategy;
  subresources?: string[];
  verbs?: string[];
}

const GROUPS: Record<string, Row[]> = {
  "/v1": [
    { kind: "Binding", verbs: ["create"] },
    { kind: "ConfigMap", short: ["cm"], strategy: configMap },
    { kind: "Endpoints", plural: "endpoints", short: ["ep"], strategy: services.endpoints },
    { kind: "Event", short: ["ev"], strategy: cluster.eventStrategy("") },
    { kind: "LimitRange", short: ["limits"] },
    {
      kind: "Namespace",
      scope: "cluster",
      short: ["ns"],
      strategy: cluster.namespace,
      subresources: ["finalize"],
      verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
    },
    { kind: "Node", scope: "cluster", short: ["no"], strategy: cluster.node },
    { kind: "PersistentVolumeClaim", short: ["pvc"], strategy: storage.persistentVolumeClaim },
    { kind: "PersistentVolume", scope: "cluster", short: ["pv"], strategy: storage.persistentVolume },
    {
      kind: "Pod",
      short: ["po"],
      categories: ["all"],
      strategy: pod,
      subresources: ["binding", "eviction"],
    },
    { kind: "PodTemplate", strategy: workloads.podTemplate },
    { kind: "ResourceQuota", short: ["quota"], strategy: strategy({ status: true }) },
    { kind: "Secret", strategy: secret },
    {
      kind: "ServiceAccount",
      short: ["sa"],
      strategy: strategy({ returnsDeleted: true }),
      subresources: ["token"],
    },
    { kind: "Service", short: ["svc"], categories: ["all"], strategy: services.service },
  ],
  "apps/v1": [
    { kind: "ControllerRevision", strategy: workloads.controllerRevision },
    { kind: "DaemonSet", short: ["ds"], categories: ["all"], strategy: workloads.daemonSet },
    {
      kind: "Deployment",
      short: ["deploy"],
      categories: ["all"],
      strategy: workloads.deployment,
      subresources: ["scale"],
    },
    {
      kind: "ReplicaSet",
      short: ["rs"],
      categories: ["all"],
      strategy: workloads.replicaSet,
      subresources: ["scale"],
    },
    {
      kind: "StatefulSet",
      short: ["sts"],
      categories: ["all"],
      strategy: workloads.statefulSet,
      subresources: ["scale"],
    },
  ],
  "batch/v1": [
    { kind: "CronJob", short: ["cj"], categories: ["all"], strategy: workloads.cronJob },
    { kind: "Job", categories: ["all"], strategy: workloads.job },
  ],
  "coordination.k8s.io/v1": [{ kind: "Lease", strategy: cluster.lease }],
  "events.k8s.io/v1": [{ kind: "Event", short: ["ev"], strategy: cluster.eventStrategy("events.k8s.io") }],
  "policy/v1": [{ kind: "PodDisruptionBudget", short: ["pdb"], strategy: workloads.podDisruptionBudget }],
  "rbac.authorization.k8s.io/v1": [
    { kind: "ClusterRoleBinding", scope: "cluster", strategy: cluster.roleBinding },
    { kind: "ClusterRole", scope: "cluster", strategy: cluster.role },
    { kind: "RoleBinding", strategy: cluster.roleBinding },
    { kind: "Role", strategy: cluster.role },
  ],
  "storage.k8s.io/v1": [
    {
      kind: "StorageClass",
      plural: "storageclasses",
      scope: "cluster",
      short: ["sc"],
      strategy: storage.storageClass,
    },
  ],
  "networking.k8s.io/v1": [
    {
      kind: "IngressClass",
      plural: "ingressclasses",
      scope: "cluster",
      strategy: strategy({ generation: "spec" }),
    },
    { kind: "Ingress", plural: "ingresses", short: ["ing"], strategy: services.ingress },
    { kind: "NetworkPolicy", plural: "networkpolicies", short: ["netpol"], strategy: services.networkPolicy },
  ],
  "discovery.k8s.io/v1": [{ kind: "EndpointSlice", strategy: services.endpointSlice }],
  "autoscaling/v2": [
    {
      kind: "HorizontalPodAutoscaler",
      short: ["hpa"],
      categories: ["all"],
      strategy: cluster.horizontalPodAutoscaler,
    },
  ],
  "scheduling.k8s.io/v1": [
    {
      kind: "PriorityClass",
      plural: "priorityclasses",
      scope: "cluster",
      short: ["pc"],
      strategy: cluster.priorityClass,
    },
  ],
  "admissionregistration.k8s.io/v1": [
    {
      kind: "MutatingWebhookConfiguration",
      scope: "cluster",
      categories: ["api-extensions"],
      strategy: cluster.webhookConfiguration(true),
    },
    {
      kind: "ValidatingWebhookConfiguration",
      scope: "cluster",
      categories: ["api-extensions"],
      strategy: cluster.webhookConfiguration(false),
    },
  ],
  "apiextensions.k8s.io/v1": [
    {
      kind: "CustomResourceDefinition",
      scope: "cluster",
      short: ["crd", "crds"],
      categories: ["api-extensions"],
      strategy: crdStrategy,
    },
  ],
  "authentication.k8s.io/v1": [
    { kind: "SelfSubjectReview", scope: "cluster", verbs: ["create"] },
    { kind: "TokenReview", scope: "cluster", verbs: ["create"] },
  ],
  "authorization.k8s.io/v1": [
    { kind: "LocalSubjectAccessReview", verbs: ["create"] },
    { kind: "SelfSubjectAccessReview", scope: "cluster", verbs: ["create"] },
    { kind: "SelfSubjectRulesReview", scope: "cluster", verbs: ["create"] },
    { kind: "SubjectAccessReview", scope: "cluster", verbs: ["create"] },
  ],
};

type Selectable = ResourceType["selectable"];

const field =
  (...path: string[]) =>
  (object: object): string => {
    let value: unknown = object;
    for (const key of path) value = record(value)[key];
    return typeof value === "boolean" ? String(value) : text(value);
  };

/** Field selectors of built-in kinds, by kind. */
const SELECTABLE: Record<string, Selectable> = {
  Pod: {
    "spec.nodeName": field("spec", "nodeName"),
    "spec.restartPolicy": field("spec", "restartPolicy"),
    "spec.schedulerName": field("spec", "schedulerName"),
    "spec.serviceAccountName": field("spec", "serviceAccountName"),
    "spec.hostNetwork": (object) => String(record(object.spec).hostNetwork === true),
    "status.phase": field("status", "phase"),
    "status.podIP": field("status", "podIP"),
    "status.nominatedNodeName": field("status", "nominatedNodeName"),
  },
  Namespace: { "status.phase": field("status", "phase") },
  Node: { "spec.unschedulable": (object) => String(record(object.spec).unschedulable === true) },
  Secret: { type: field("type") },
  Job: { "status.successful": (object) => String(record(object.status).succeeded ?? 0) },
  ReplicaSet: { "status.replicas": (object) => String(record(object.status).replicas ?? 0) },
};

const REGARDING = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

function eventFields(group: string): Selectable {
  const prefix = group === "" ? "involvedObject" : "regarding";
  const fields: Record<string, (object: object) => string> = {
    reason: field("reason"),
    type: field("type"),
    reportingComponent: field("reportingController"),
  };
  for (const name of REGARDING) fields[`${prefix}.${name}`] = field("regarding", name);
  if (group === "") fields.source = field("deprecatedSource", "component");
  else fields.reportingController = field("reportingController");
  return fields;
}

const OPAQUE: Schema = { type: "object", properties: {}, open: true };

function toType(
  group: string,
  version: string,
  row: Row,
  schemas: BuiltinSchemas,
  columns: readonly Column[],
): ResourceType {
  const singular = row.kind.toLowerCase();
  const plural = row.plural ?? `${singular}s`;
  const own = row.strategy ?? strategy();
  const isEvent = row.kind === "Event";
  const home = isEvent ? "events.k8s.io" : group;
  return {
    group,
    version,
    plural,
    singular,
    kind: row.kind,
    listKind: `${row.kind}List`,
    namespaced: row.scope !== "cluster",
    shortNames: row.short ?? [],
    categories: row.categories ?? [],
    verbs: row.verbs ?? ALL_VERBS,
    subresources: [...(own.status ? ["status"] : []), ...(row.subresources ?? [])],
    collection: home === "" ? plural : `${plural}.${home}`,
    schema: schemas.kind(group, version, row.kind) ?? OPAQUE,
    strategy: own,
    columns,
    selectable: isEvent ? eventFields(group) : (SELECTABLE[row.kind] ?? {}),
    ...(isEvent && group === ""
      ? { fromStorage: (objects) => objects.map(coreEvent), toStorage: storedEvent }
      : {}),
  };
}

/** All built-in types. */
export function builtinTypes(schemas: BuiltinSchemas): ResourceType[] {
  return Object.entries(GROUPS).flatMap(([groupVersion, rows]) => {
    const [group = "", version = ""] = groupVersion.split("/");
    return rows.map((row) => toType(group, version, row, schemas, builtinColumns(row.kind)));
  });
}
