/** What one pass found and did: the input of the status. */
import type { Violation } from "../admission/violation.ts";
import type { Nacos } from "../api.gen.ts";
import type { ConfigProblem } from "../desired/source.ts";
import type { Health } from "../health/evaluate.ts";
import type { ConfigKind } from "../kinds.ts";
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

/** State of the configuration after the pass. */
export interface ConfigReport {
  /** Mode that the resource asks for. */
  readonly mode: "none" | "legacy" | "merged";
  /** Counts and key names, when all is well. */
  readonly message: string;
  /** Why the configuration that is wanted is not in force. */
  readonly problem?: ConfigProblem;
  /** What the pods mount; digest only in merged mode. */
  readonly mounted: {
    readonly digest: string;
    readonly finalName: string;
    readonly finalKind: ConfigKind | "";
  };
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
  readonly stuckPod?: string;
  /** Pods of a lower ordinal keep an older template, as somebody has set it. */
  readonly partition?: number;
}

/** Times and counts that outlive a pass; all times in milliseconds since the Unix epoch. */
export interface Memory {
  /** When this generation of the spec was first seen, if that was in this process. */
  readonly specChangedAt?: number;
  /** When the running rollout began. */
  readonly rolloutSince?: number;
  /** Failed checks of Nacos in a row that lie at least five seconds apart. */
  readonly nacosFailures: number;
  /** Nodes before the running change of their number. */
  readonly scaledFrom?: number;
}

/** Everything that the status depends on, beside the resource. */
export interface Outcome {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly replicas: number;
  readonly standalone: boolean;
  readonly violations: readonly Violation[];
  readonly config: ConfigReport;
  /** Absent while there is no StatefulSet. */
  readonly workload?: WorkloadReport;
  /** Absent when the nodes were not checked. */
  readonly health?: Health;
  readonly failures: readonly StepFailure[];
  /** States of conditions that a step alone knows of; a failure about the same condition counts more. */
  readonly reports: readonly ConditionState[];
  /** Fields of the status as steps left them. */
  readonly stepStatus: StepStatus;
  readonly paused: boolean;
  /** The StatefulSet is being made anew around its running pods. */
  readonly recreating: boolean;
  /** A change of the pods waits for so many ready ones to become available. */
  readonly awaited?: number;
  readonly memory: Memory;
}
