/** Flags of the package. */
import type { ModuleFlag } from "@quartet/core";

/** User of the peer's controller, which writes the same objects while a cluster is taken over. */
const PEER_CONTROLLER = "system:serviceaccount:tars-system:tars-controller";

export const FLAGS: readonly ModuleFlag[] = [
  {
    name: "operator-username",
    type: "string",
    default: "",
    help: "user name of this manager, for the TARS webhooks to know its requests by; default: what the API server says",
  },
  {
    name: "trusted-users",
    type: "string",
    default: PEER_CONTROLLER,
    help: "comma-separated users whose requests the TARS webhooks let through like the manager's own",
  },
  {
    name: "tars-container-port-style",
    type: "string",
    default: "seed",
    help: "names of container ports: seed (as the servants are named) or peer (as K8SFramework names them)",
  },
  {
    name: "tars-tconfig-delete-guard",
    type: "duration",
    default: "0s",
    help: "age below which an active TConfig cannot be deleted; 0 = none (K8SFramework: 48s)",
  },
];
