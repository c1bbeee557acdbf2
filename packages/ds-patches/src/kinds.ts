/** Kinds that the controller works on. */

import type { Condition } from "@quartet/core";
import { defineKind, type Kind, type KubeObject } from "@quartet/core";
import type { JsonMap } from "@quartet/strategic-merge";
import type { LabelSelector, NodePatch, PodTemplate } from "./api.ts";
import type { IntOrPercent } from "./desired/limits.ts";

/** A DaemonSet of `apps.kruise.io`; fields that are not named here are kept as they came. */
export interface DaemonSet extends KubeObject {
  spec: {
    selector: LabelSelector;
    template: PodTemplate;
    updateStrategy?: { type?: string; rollingUpdate?: RollingUpdate };
    minReadySeconds?: number;
    burstReplicas?: IntOrPercent;
    revisionHistoryLimit?: number;
    scaleStrategy?: { partitionedScaling?: boolean };
    lifecycle?: JsonMap;
    patches?: NodePatch[];
  };
  status?: DaemonSetStatus;
}

export interface RollingUpdate {
  rollingUpdateType?: string;
  maxUnavailable?: IntOrPercent;
  maxSurge?: IntOrPercent;
  partition?: IntOrPercent;
  paused?: boolean;
  selector?: LabelSelector;
}

export interface DaemonSetStatus {
  currentNumberScheduled: number;
  numberMisscheduled: number;
  desiredNumberScheduled: number;
  numberReady: number;
  updatedNumberScheduled: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  observedGeneration?: number;
  collisionCount?: number;
  updateRevision?: string;
  patchRevision?: string;
  patchStatuses?: PatchStatus[];
  conditions?: Condition[];
}

export interface PatchStatus {
  index: number;
  matchedNodes: number;
  updatedNodes: number;
  message?: string;
}

export const GROUP = "apps.kruise.io";

export const DAEMON_SET: Kind<DaemonSet> = defineKind<DaemonSet>({
  group: GROUP,
  version: "v1beta1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
});
