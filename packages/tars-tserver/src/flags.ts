/** Flags of the package. */

export const FLAGS = [
  {
    name: "operator-username",
    type: "string",
    default: "",
    help: "user name of this manager, for the TARS webhooks to know its requests by; default: what the API server says",
  },
  {
    name: "trusted-users",
    type: "list",
    // The peer's controller, which writes the same objects while a cluster is taken over.
    default: "system:serviceaccount:tars-system:tars-controller",
    help: "users whose requests the TARS webhooks let through like the manager's own",
  },
  {
    name: "tars-container-port-style",
    type: "enum",
    values: ["seed", "peer"],
    default: "seed",
    help: "names of container ports: as the servants are named, or as the peer K8SFramework names them",
  },
  {
    name: "tars-host-bind-claim",
    type: "boolean",
    default: "false",
    help: "gives servers with hostIPC, hostNetwork or hostPorts the claim delay-bind, as K8SFramework does; a StatefulSet without it is made anew",
  },
  {
    name: "tars-gate-fallback",
    type: "boolean",
    default: "false",
    help: "sets tars.io/active on pods from their containers in namespaces without a TServer tars-tarsregistry",
  },
  {
    name: "tars-force-takeover",
    type: "boolean",
    default: "false",
    help: "reconciles although the controller of K8SFramework renews its Lease in tars-system",
  },
  {
    name: "tars-tconfig-delete-guard",
    type: "duration",
    default: "0s",
    help: "age below which an active TConfig cannot be deleted; 0 = none (K8SFramework: 48s)",
  },
] as const;
