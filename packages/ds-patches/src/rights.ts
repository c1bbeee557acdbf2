/** What the controller may do, by mode. */
import { allow, type Right, reads, reconciles } from "@quartet/core";
import {
  CONTROLLER_REVISION,
  CUSTOM_RESOURCE_DEFINITION,
  LEASE,
  MUTATING_WEBHOOK_CONFIGURATION,
  NODE,
  POD,
  POD_TEMPLATE,
} from "@quartet/core/kinds";
import { DAEMON_SET } from "./kinds.ts";
import { CRD_NAME, KRUISE_CONFIGURATION, KRUISE_LEASE } from "./mode/signals.ts";

const WANTED = { flag: "daemonset-mode", is: ["auto", "owner", "companion"] } as const;
const COMPANION = { flag: "daemonset-mode", is: ["companion"] } as const;
const OWNER = { flag: "daemonset-mode", is: ["auto", "owner"] } as const;

export const RIGHTS: readonly Right[] = [
  ...reconciles(DAEMON_SET, { when: OWNER }),
  // A rollback writes the spec.
  allow(DAEMON_SET, ["patch"], { when: OWNER }),
  reads(NODE, { when: OWNER }),
  allow(POD, ["get", "list", "watch", "create", "patch", "delete"], { when: OWNER }),
  allow(POD, ["patch"], { subresource: "status", when: OWNER }),
  allow(CONTROLLER_REVISION, ["get", "list", "watch", "create", "patch", "delete"], { when: OWNER }),
  reads(DAEMON_SET, { when: COMPANION }),
  allow(DAEMON_SET, ["patch"], {
    when: COMPANION,
    optional:
      "the rollout mode Template of patches does not work, which changes an annotation of the template",
  }),
  reads(NODE, { when: COMPANION }),
  allow(POD, ["get", "list", "watch", "patch", "delete"], { when: COMPANION }),
  allow(POD_TEMPLATE, ["create"], {
    when: WANTED,
    optional:
      "templates are not judged by the API server when a DaemonSet is admitted, but when its pods are made",
  }),
  reads(CUSTOM_RESOURCE_DEFINITION, { names: [CRD_NAME], when: WANTED }),
  reads(MUTATING_WEBHOOK_CONFIGURATION, { names: [KRUISE_CONFIGURATION], when: WANTED }),
  // Cluster-wide: a Role would need the namespace, which is there with OpenKruise alone.
  reads({ ...LEASE, namespaced: false }, { names: [KRUISE_LEASE], when: WANTED }),
];
