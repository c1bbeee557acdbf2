/**
 * `@quartet/core/kinds`: the kinds of Kubernetes that controllers share, each in the version that all supported servers
 * serve.
 */
import { defineKind, type Kind, type KubeObject } from "../object.ts";
import type {
  ConfigObject,
  CustomResourceDefinition,
  Lease,
  Node,
  Service,
  WebhookConfiguration,
} from "./objects.ts";
import type { Pod } from "./pod.ts";
import type { Claim, ControllerRevision, DaemonSet, Deployment, Job, StatefulSet } from "./workloads.ts";

export type * from "./objects.ts";
export type * from "./pod.ts";
export type * from "./workloads.ts";

/** A namespaced kind of Kubernetes; `api` is its group and version, `v1` or `apps/v1`. */
function namespaced<T extends KubeObject>(api: string, kind: string, plural: string): Kind<T> {
  return builtIn(api, kind, plural, true);
}

function clusterScoped<T extends KubeObject>(api: string, kind: string, plural: string): Kind<T> {
  return builtIn(api, kind, plural, false);
}

function builtIn<T extends KubeObject>(
  api: string,
  kind: string,
  plural: string,
  isNamespaced: boolean,
): Kind<T> {
  const [group, version] = api.includes("/") ? (api.split("/") as [string, string]) : ["", api];
  return defineKind<T>({ group, version, kind, plural, namespaced: isNamespaced });
}

export const POD: Kind<Pod> = namespaced("v1", "Pod", "pods");
export const SERVICE: Kind<Service> = namespaced("v1", "Service", "services");
export const CONFIG_MAP: Kind<ConfigObject> = namespaced("v1", "ConfigMap", "configmaps");
export const SECRET: Kind<ConfigObject> = namespaced("v1", "Secret", "secrets");
export const SERVICE_ACCOUNT: Kind = namespaced("v1", "ServiceAccount", "serviceaccounts");
export const PERSISTENT_VOLUME_CLAIM: Kind<Claim> = namespaced(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export const PERSISTENT_VOLUME: Kind = clusterScoped("v1", "PersistentVolume", "persistentvolumes");
export const POD_TEMPLATE: Kind = namespaced("v1", "PodTemplate", "podtemplates");
export const NODE: Kind<Node> = clusterScoped("v1", "Node", "nodes");
export const NAMESPACE: Kind = clusterScoped("v1", "Namespace", "namespaces");

export const STATEFUL_SET: Kind<StatefulSet> = namespaced("apps/v1", "StatefulSet", "statefulsets");
export const DAEMON_SET: Kind<DaemonSet> = namespaced("apps/v1", "DaemonSet", "daemonsets");
export const DEPLOYMENT: Kind<Deployment> = namespaced("apps/v1", "Deployment", "deployments");
export const CONTROLLER_REVISION: Kind<ControllerRevision> = namespaced(
  "apps/v1",
  "ControllerRevision",
  "controllerrevisions",
);
export const JOB: Kind<Job> = namespaced("batch/v1", "Job", "jobs");

export const LEASE: Kind<Lease> = namespaced("coordination.k8s.io/v1", "Lease", "leases");
export const EVENT: Kind = namespaced("events.k8s.io/v1", "Event", "events");
export const STORAGE_CLASS: Kind = clusterScoped("storage.k8s.io/v1", "StorageClass", "storageclasses");

export const CUSTOM_RESOURCE_DEFINITION: Kind<CustomResourceDefinition> = clusterScoped(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);
export const MUTATING_WEBHOOK_CONFIGURATION: Kind<WebhookConfiguration> = clusterScoped(
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
);
export const VALIDATING_WEBHOOK_CONFIGURATION: Kind<WebhookConfiguration> = clusterScoped(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
);
