/** Rights and flags of the controller. */
import { allow, type Right, reads, type Verb } from "@quartet/core";
import {
  CONFIG_MAP,
  CONTROLLER_REVISION,
  JOB,
  LEASE,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  SECRET,
  SERVICE,
  STATEFUL_SET,
} from "@quartet/core/kinds";
import { NACOS } from "./kinds.ts";
import { PEER_LEASE } from "./reconcile/peer.ts";

/** What children need that are created, changed and left to the garbage collector. */
const KEPT: readonly Verb[] = ["get", "list", "watch", "create", "update"];

/** Nothing here deletes pods or claims, and nothing is patched but the status and claims that grow. */
export const RIGHTS: readonly Right[] = [
  reads(NACOS),
  allow(NACOS, ["patch"], { subresource: "status" }),
  // Owner references that block the owner's deletion need it where the admission plugin for them is on.
  allow(NACOS, ["update"], { subresource: "finalizers" }),
  allow(CONFIG_MAP, [...KEPT, "delete"]),
  allow(SECRET, [...KEPT, "delete"]),
  allow(SERVICE, KEPT),
  allow(STATEFUL_SET, [...KEPT, "delete"]),
  allow(CONTROLLER_REVISION, ["get", "list", "watch", "create", "delete"]),
  allow(JOB, KEPT),
  allow(PERSISTENT_VOLUME_CLAIM, ["get", "list", "patch"]),
  reads(POD),
  reads(LEASE, { names: [PEER_LEASE] }),
  allow(LEASE, ["get"], { names: [PEER_LEASE], place: { flag: "nacos-peer-namespace" } }),
];

export const FLAGS = [
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
    type: "namespace",
    default: "",
    help: "namespace of the Lease of a Nacos operator that may still run, beside the resource's own namespace",
  },
  {
    name: "nacos-postgres-hosts",
    type: "string",
    default: "",
    help: "servers that spec.postgres may name: host, *.domain, address or CIDR, with :port or without, separated by commas; empty = any but loopback and link-local addresses",
  },
] as const;
