/** Labels and annotations of the controller (section 2.4 of the rule book). */

export const REVISION_LABEL = "controller-revision-hash";
export const COMBINED_HASH = "daemonset.kruise.io/patch-combined-hash";
export const PATCHES_APPLIED = "daemonset.kruise.io/patches-applied";
export const REVISION_KIND = "daemonset.kruise.io/revision-kind";
export const PATCHES_HASH = "daemonset.kruise.io/patches-hash";
export const BASE_ONLY = "daemonset.kruise.io/base-only";
/** Value of {@link REVISION_KIND} on snapshots. */
export const SNAPSHOT = "patches";
/** Prefix of a snapshot's hash label and, behind the DaemonSet's name, of its name. */
export const SNAPSHOT_PREFIX = "patches-";
