/** Kinds that the controller works on. */

import { defineKind, type Kind, type KubeObject } from "@quartet/core";
import type { JsonMap } from "@quartet/strategic-merge";
import type { DaemonSet as Stored } from "./api.gen.ts";
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

export type DaemonSetStatus = NonNullable<Stored["status"]>;
export type PatchStatus = NonNullable<DaemonSetStatus["patchStatuses"]>[number];

export const DAEMON_SET: Kind<DaemonSet> = defineKind<DaemonSet>({
  group: "apps.kruise.io",
  version: "v1beta1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
});
