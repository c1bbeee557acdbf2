// Generated from crds/ by `npm run generate`: edit the CRD instead.
import type { ObjectMeta } from "@quartet/core";

/**
 * One pod on each eligible node, from a template that patches adapt to the labels of the node.
 */
export interface DaemonSet {
apiVersion: string
kind: string
metadata: ObjectMeta
spec: {
/**
 * Labels of the pods that belong to the DaemonSet; they cannot be changed.
 */
selector: {
[k: string]: unknown
}
/**
 * Template of the pods, before patches.
 */
template: {
[k: string]: unknown
}
/**
 * How pods of an old template, or of old patches, are replaced.
 */
updateStrategy?: {
/**
 * RollingUpdate (default) or OnDelete.
 */
type?: string
/**
 * Limits of a rolling update.
 */
rollingUpdate?: {
/**
 * Standard (default) replaces pods; InPlaceIfPossible changes images of running pods.
 */
rollingUpdateType?: string
/**
 * Nodes without an available pod at most; a percentage rounds up. Default 1.
 */
maxUnavailable?: (number | string)
/**
 * Nodes with a second pod at most; a percentage rounds up. Default 0.
 */
maxSurge?: (number | string)
/**
 * Nodes that stay on the old version; a percentage rounds down. Default 0.
 */
partition?: (number | string)
/**
 * No pod is replaced while it is true.
 */
paused?: boolean
/**
 * Labels of the nodes whose pods are replaced; absent means all.
 */
selector?: {
[k: string]: unknown
}
}
}
/**
 * Seconds for which a pod must have been ready to count as available. Default 0.
 */
minReadySeconds?: number
/**
 * Pods that are created, and that are deleted, at once at most. Default 250.
 */
burstReplicas?: (number | string)
/**
 * Old revisions of each kind that are kept. Default 10.
 */
revisionHistoryLimit?: number
/**
 * Hooks that hold a pod before it is deleted.
 */
lifecycle?: {
[k: string]: unknown
}
/**
 * How missing pods are created.
 */
scaleStrategy?: {
/**
 * New pods, too, leave out the partition.
 */
partitionedScaling?: boolean
}
/**
 * Changes of the template for the nodes of certain labels.
 * 
 * @maxItems 10
 */
patches?: {
/**
 * Labels of the nodes that get the patch; {} matches all.
 */
selector: {
[k: string]: unknown
}
/**
 * Strategic merge patch of the template, at most 1024 bytes of compact JSON.
 */
patch: {
[k: string]: unknown
}
/**
 * Patches are applied in ascending order, equal ones as listed; the last one wins. Default 0.
 */
priority?: number
}[]
}
status?: {
currentNumberScheduled: number
numberMisscheduled: number
desiredNumberScheduled: number
numberReady: number
updatedNumberScheduled: number
numberAvailable?: number
numberUnavailable?: number
observedGeneration?: number
collisionCount?: number
updateRevision?: string
patchRevision?: string
patchStatuses?: {
index: number
matchedNodes: number
updatedNodes: number
message?: string
}[]
conditions?: {
type: string
status: string
observedGeneration?: number
lastTransitionTime?: string
reason?: string
message?: string
}[]
}
}

/**
 * One pod on each eligible node, from a template that patches adapt to the labels of the node.
 */
export interface DaemonSetV1Alpha1 {
apiVersion: string
kind: string
metadata: ObjectMeta
spec: {
/**
 * Labels of the pods that belong to the DaemonSet; they cannot be changed.
 */
selector: {
[k: string]: unknown
}
/**
 * Template of the pods, before patches.
 */
template: {
[k: string]: unknown
}
/**
 * How pods of an old template, or of old patches, are replaced.
 */
updateStrategy?: {
/**
 * RollingUpdate (default) or OnDelete.
 */
type?: string
/**
 * Limits of a rolling update.
 */
rollingUpdate?: {
/**
 * Standard (default) replaces pods; InPlaceIfPossible changes images of running pods; Surging is Standard with maxSurge 1.
 */
rollingUpdateType?: string
/**
 * Nodes without an available pod at most; a percentage rounds up. Default 1.
 */
maxUnavailable?: (number | string)
/**
 * Nodes with a second pod at most; a percentage rounds up. Default 0.
 */
maxSurge?: (number | string)
/**
 * Nodes that stay on the old version; a percentage rounds down. Default 0.
 */
partition?: (number | string)
/**
 * No pod is replaced while it is true.
 */
paused?: boolean
/**
 * Labels of the nodes whose pods are replaced; absent means all.
 */
selector?: {
[k: string]: unknown
}
}
}
/**
 * Seconds for which a pod must have been ready to count as available. Default 0.
 */
minReadySeconds?: number
/**
 * Pods that are created, and that are deleted, at once at most. Default 250.
 */
burstReplicas?: (number | string)
/**
 * Old revisions of each kind that are kept. Default 10.
 */
revisionHistoryLimit?: number
/**
 * Hooks that hold a pod before it is deleted.
 */
lifecycle?: {
[k: string]: unknown
}
}
status?: {
currentNumberScheduled: number
numberMisscheduled: number
desiredNumberScheduled: number
numberReady: number
updatedNumberScheduled: number
numberAvailable?: number
numberUnavailable?: number
observedGeneration?: number
collisionCount?: number
daemonSetHash: string
patchRevision?: string
patchStatuses?: {
index: number
matchedNodes: number
updatedNodes: number
message?: string
}[]
conditions?: {
type: string
status: string
observedGeneration?: number
lastTransitionTime?: string
reason?: string
message?: string
}[]
}
}
