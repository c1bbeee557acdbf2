/** What the package may do. */
import { allow, type Right, reads } from "@quartet/core";
import { LEASE, MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION } from "@quartet/core/kinds";
import {
  CLAIM,
  DAEMON_SET,
  NODE,
  POD,
  SERVICE,
  STATEFUL_SET,
  T_ACCOUNT,
  T_CONFIG,
  T_DEPLOY,
  T_ENDPOINT,
  T_EXITED_RECORD,
  T_FRAMEWORK_CONFIG,
  T_IMAGE,
  T_SERVER,
  T_TEMPLATE,
  T_TREE,
} from "./kinds.ts";

import { PEER_LEASES, PEER_WEBHOOKS } from "./reconcile/peer.ts";

const UNSEEN_WEBHOOKS = "webhooks that K8SFramework has left behind are not told of";
/** Children are written whole (tars.md 14.2). */
const REPLACED = ["get", "list", "watch", "create", "update", "delete"] as const;
const STATUS = { subresource: "status" };

export const RIGHTS: readonly Right[] = [
  allow(T_SERVER, ["get", "list", "watch", "create", "patch"]),
  allow(T_SERVER, ["get", "patch"], STATUS),
  // Owner references that block the owner's deletion need it where the admission plugin for them is on.
  allow(T_SERVER, ["update"], { subresource: "finalizers" }),
  allow(T_ENDPOINT, REPLACED),
  allow(T_ENDPOINT, ["get", "patch"], STATUS),
  allow(T_EXITED_RECORD, ["get", "list", "watch", "create", "patch", "delete"]),
  allow(T_CONFIG, ["get", "list", "watch", "patch", "delete"]),
  ...[T_DEPLOY, T_TREE, T_IMAGE, T_ACCOUNT].map((kind) => allow(kind, ["get", "list", "watch", "patch"])),
  reads(T_TEMPLATE),
  reads(T_FRAMEWORK_CONFIG),
  ...[SERVICE, STATEFUL_SET, DAEMON_SET].map((kind) => allow(kind, REPLACED)),
  allow(CLAIM, ["get", "list", "watch", "patch", "delete"]),
  reads(POD),
  allow(POD, ["patch"], { subresource: "status", when: { flag: "tars-gate-fallback", is: [true] } }),
  reads(LEASE, { names: PEER_LEASES }),
  allow(MUTATING_WEBHOOK_CONFIGURATION, ["get"], {
    names: [PEER_WEBHOOKS.mutating],
    optional: UNSEEN_WEBHOOKS,
  }),
  allow(VALIDATING_WEBHOOK_CONFIGURATION, ["get"], {
    names: [PEER_WEBHOOKS.validating],
    optional: UNSEEN_WEBHOOKS,
  }),
  allow(NODE, ["get", "list", "watch", "patch"], { elsewhere: "any" }),
];
