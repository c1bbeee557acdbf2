/** Labels and annotations of the controller (section 2.4 of the rule book). */

export const REVISION_LABEL = "controller-revision-hash";
export const COMBINED_HASH = "daemonset.kruise.io/patch-combined-hash";
export const PATCHES_APPLIED = "daemonset.kruise.io/patches-applied";
export const REVISION_KIND = "daemonset.kruise.io/revision-kind";
/** On a DaemonSet: its patches as JSON; input in companion mode, mirror of `spec.patches` in owner mode. */
export const PATCHES = "daemonset.kruise.io/patches";
export const PATCHES_HASH = "daemonset.kruise.io/patches-hash";
export const BASE_ONLY = "daemonset.kruise.io/base-only";
/** Value of {@link REVISION_KIND} on snapshots. */
export const SNAPSHOT = "patches";
/** Prefix of a snapshot's hash label and, behind the DaemonSet's name, of its name. */
export const SNAPSHOT_PREFIX = "patches-";

/** Label with the state of a pod's life; the one value that the controller writes. */
export const LIFECYCLE_STATE = "lifecycle.apps.kruise.io/state";
export const PREPARING_DELETE = "PreparingDelete";
/** Annotation with the time of that state, RFC 3339. */
export const LIFECYCLE_TIME = "lifecycle.apps.kruise.io/timestamp";
/** Annotation with what was updated in place. */
export const IN_PLACE_STATE = "apps.kruise.io/inplace-update-state";
/** Readiness gate of pods that may be updated in place. */
export const IN_PLACE_READY = "InPlaceUpdateReady";
/** Readiness gate by which a hook makes a pod unready. */
export const KRUISE_POD_READY = "KruisePodReady";
/** Annotation of a DaemonSet, and label of its pods: its template generation, from before there were hashes. */
export const TEMPLATE_GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";
export const TEMPLATE_GENERATION = "pod-template-generation";
/** Annotation of a DaemonSet: number of the revision to go back to. */
export const ROLLBACK_TO = "daemonset.kruise.io/rollback-to";
/** On a DaemonSet of v1alpha1: `"true"` for `spec.scaleStrategy.partitionedScaling`. */
export const PARTITIONED_SCALING = "daemonset.kruise.io/progressive-create-pod";
/** Annotation of a DaemonSet in companion mode: how pods get changed patches. */
export const PATCHES_ROLLOUT = "daemonset.kruise.io/patches-rollout";
