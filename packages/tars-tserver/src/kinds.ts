/** The kinds that this package reads and writes. */
import { defineKind, type Kind, type KubeObject } from "@quartet/core";
import type {
  TAccount,
  TConfig,
  TDeploy,
  TEndpoint,
  TExitedRecord,
  TFrameworkConfig,
  TImage,
  TServer,
  TTemplate,
  TTree,
} from "./api.gen.ts";
import type { Claim, DaemonSet, Node, Pod, Service, StatefulSet } from "./desired/k8s.ts";
import { GROUP } from "./labels.ts";

function own<T extends KubeObject>(kind: string): Kind<T> {
  return defineKind<T>({
    group: GROUP,
    version: "v1beta2",
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: true,
  });
}

export const T_SERVER: Kind<TServer> = own("TServer");
export const T_CONFIG: Kind<TConfig> = own("TConfig");
export const T_TEMPLATE: Kind<TTemplate> = own("TTemplate");
export const T_ACCOUNT: Kind<TAccount> = own("TAccount");
export const T_IMAGE: Kind<TImage> = own("TImage");
export const T_ENDPOINT: Kind<TEndpoint> = own("TEndpoint");
export const T_EXITED_RECORD: Kind<TExitedRecord> = own("TExitedRecord");
export const T_FRAMEWORK_CONFIG: Kind<TFrameworkConfig> = own("TFrameworkConfig");
export const T_TREE: Kind<TTree> = own("TTree");
export const T_DEPLOY: Kind<TDeploy> = own("TDeploy");

const core = { group: "", version: "v1", namespaced: true };
const apps = { group: "apps", version: "v1", namespaced: true };

export const SERVICE: Kind<Service> = defineKind<Service>({ ...core, kind: "Service", plural: "services" });
export const POD: Kind<Pod> = defineKind<Pod>({ ...core, kind: "Pod", plural: "pods" });
export const CLAIM: Kind<Claim> = defineKind<Claim>({
  ...core,
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
});
export const NODE: Kind<Node> = defineKind<Node>({
  ...core,
  namespaced: false,
  kind: "Node",
  plural: "nodes",
});
export const STATEFUL_SET: Kind<StatefulSet> = defineKind<StatefulSet>({
  ...apps,
  kind: "StatefulSet",
  plural: "statefulsets",
});
export const DAEMON_SET: Kind<DaemonSet> = defineKind<DaemonSet>({
  ...apps,
  kind: "DaemonSet",
  plural: "daemonsets",
});
