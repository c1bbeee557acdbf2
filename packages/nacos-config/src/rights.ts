/** Write rights and flags of the controller. */
import type { ModuleFlag, RightsRule } from "@quartet/core";

/** What the controller writes; what it reads follows from its sources. Nothing here deletes pods or claims. */
export const RIGHTS: readonly RightsRule[] = [
  { groups: ["nacos.io"], resources: ["nacos"], verbs: ["get", "list", "watch"] },
  { groups: ["nacos.io"], resources: ["nacos/status"], verbs: ["get", "update", "patch"] },
  // Owner references that block the owner's deletion need it where the admission plugin for them is on.
  { groups: ["nacos.io"], resources: ["nacos/finalizers"], verbs: ["update"] },
  {
    groups: [""],
    resources: ["configmaps", "secrets", "services"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
  {
    groups: ["apps"],
    resources: ["statefulsets"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
  {
    groups: ["apps"],
    resources: ["controllerrevisions"],
    verbs: ["get", "list", "watch", "create", "delete"],
  },
  { groups: ["batch"], resources: ["jobs"], verbs: ["get", "list", "watch", "create", "update"] },
  { groups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "list", "patch"] },
  { groups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  { groups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list", "watch"] },
];

export const FLAGS: readonly ModuleFlag[] = [
  {
    name: "nacos-resync",
    type: "duration",
    default: "10m",
    help: "time after which a Nacos resource without news is looked at again; 0 = never",
  },
  {
    name: "nacos-skip-node-check",
    type: "boolean",
    default: "false",
    help: "do not ask Nacos nodes for their state; ready pods are enough (for managers without access to the pod network)",
  },
  {
    name: "nacos-peer-namespace",
    type: "string",
    default: "",
    help: "namespace of the Lease of a Nacos operator that may still run, beside the resource's own namespace",
  },
  {
    name: "nacos-postgres-hosts",
    type: "string",
    default: "",
    help: "servers that spec.postgres may name: host, *.domain, address or CIDR, with :port or without, separated by commas; empty = any but loopback and link-local addresses",
  },
];
