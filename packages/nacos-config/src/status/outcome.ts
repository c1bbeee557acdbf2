/** What one pass found and did: the input of the status. */
import type { Violation } from "../admission/validate.ts";
import type { Nacos } from "../api.gen.ts";
import type { ConfigPlan } from "../desired/settings.ts";
import type { ConfigProblem } from "../desired/source.ts";
import type { MountedConfig } from "../desired/volumes.ts";
import type { Health } from "../health/evaluate.ts";
import type { ConditionState } from "./conditions.ts";

/** Codes of entries in `status.event`. */
export const EVENT_CODES = { ok: 200, badParameter: 301, nacos: 401, system: 404, other: -1 } as const;

/** A write or read that did not succeed, or a conflict about an object. */
export interface StepFailure {
  /** Reason of the Ready condition, unless `condition` names another. */
  readonly reason: string;
  readonly message: string;
  readonly code: number;
  /** Milliseconds until the next try makes sense, where that is known. */
  readonly retryAfterMs?: number;
  /** Condition that the failure belongs to. Default: Ready. */
  readonly condition?: "SpecValid" | "DatabaseReady" | "AdminReady";
}

/** Fields of the status that steps fill in by themselves. */
export type StepStatus = Pick<NonNullable<Nacos["status"]>, "pg" | "admin">;

/** What the steps of a pass leave for the status. */
export interface StepResults {
  /** In the order of the steps. */
  readonly failures: StepFailure[];
  /** States of conditions that a step alone knows of; a failure about the same condition counts more. */
  readonly reports: ConditionState[];
  readonly stepStatus: StepStatus;
  /** The StatefulSet is being made anew around its running pods. */
  recreating: boolean;
  /** A change of the pods waits for so many ready ones to become available. */
  awaited?: number | undefined;
}

/** State of the configuration after the pass. */
export interface ConfigReport {
  /** Mode that the resource asks for. */
  readonly mode: ConfigPlan["mode"];
  /** Counts and key names, when all is well. */
  readonly message: string;
  /** Why the configuration that is wanted is not in force. */
  readonly problem?: ConfigProblem | undefined;
  readonly mounted: MountedConfig;
}

/** State of the StatefulSet after the pass. */
export interface WorkloadReport {
  readonly replicas: number;
  readonly readyPods: number;
  readonly updatedReplicas: number;
  readonly revision: string;
  /** Label selector of the pods, as text. */
  readonly selector: string;
  /** The StatefulSet controller has said nothing yet, though pods may be ready. */
  readonly unreported: boolean;
  /** Pods are being replaced. */
  readonly rolling: boolean;
  /** The number of pods is being changed. */
  readonly scaling: boolean;
  /** Pod that holds up the rollout, if any. */
  readonly stuckPod?: string | undefined;
  /** Pods of a lower ordinal keep an older template, as somebody has set it. */
  readonly partition?: number | undefined;
}

/** Times and counts that outlive a pass; all times in milliseconds since the Unix epoch. */
export interface Memory {
  /** When this generation of the spec was first seen, if that was in this process. */
  specChangedAt?: number;
  /** When the running rollout began. */
  rolloutSince?: number;
  /** Failed checks of Nacos in a row that lie at least five seconds apart. */
  nacosFailures: number;
  /** Nodes before the running change of their number. */
  scaledFrom?: number;
}

/** Everything that the status depends on, beside the resource. */
export interface Outcome extends Readonly<StepResults> {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly replicas: number;
  readonly standalone: boolean;
  readonly violations: readonly Violation[];
  readonly paused: boolean;
  readonly config: ConfigReport;
  /** Absent while there is no StatefulSet. */
  readonly workload?: WorkloadReport | undefined;
  /** Absent when the nodes were not checked. */
  readonly health?: Health | undefined;
  readonly memory: Readonly<Memory>;
}
