/** Feature gate of the patches (KEP). */
export const PATCHES_GATE = "AdvancedDaemonSetNodeLabelPatches";

/** Flags of the controller. */
export const FLAGS = [
  {
    name: "daemonset-mode",
    type: "enum",
    values: ["auto", "owner", "companion", "off"],
    default: "auto",
    help: "owner: this controller controls the pods of DaemonSets; companion: OpenKruise does; auto: whichever fits",
  },
  {
    name: "kruise-namespace",
    type: "namespace",
    default: "kruise-system",
    help: "namespace of the Lease by which a running OpenKruise is known",
  },
  {
    name: "patch-drift-settle",
    type: "duration",
    default: "10s",
    help: "for how long the labels of a node must have selected the same patches before its pod is replaced for them",
  },
] as const;
