/** Writes the status, and only what changed of it (DSP-827 to 833). */
import {
  type Clock,
  type Condition,
  type DeepReadonly,
  type ReconcileContext,
  setCondition,
} from "@quartet/core";
import type { Compiled } from "../desired/compiled.ts";
import { type CountOptions, countNodes, countPatches } from "../desired/status.ts";
import { DAEMON_SET, type DaemonSet, type DaemonSetStatus } from "../kinds.ts";
import type { ObservedNode } from "./observe.ts";
import type { History } from "./revisions.ts";

export interface StatusReport extends CountOptions {
  readonly daemonSet: DeepReadonly<DaemonSet>;
  readonly compiled: Compiled;
  readonly nodes: readonly ObservedNode[];
  readonly history: History;
  /** Why patches cannot be applied, if any cannot. */
  readonly invalidPatch: string | undefined;
  /** The feature gate is off while there are patches. */
  readonly featureDisabled: boolean;
}

export async function writeStatus(report: StatusReport, clock: Clock, ctx: ReconcileContext): Promise<void> {
  const { daemonSet, compiled, nodes, history } = report;
  const { metadata } = daemonSet;
  const status = (daemonSet.status ?? {}) as Partial<DaemonSetStatus>;
  const { numberAvailable, numberUnavailable, ...counters } = countNodes(nodes, report);
  const { collisionCount, observedGeneration = 0 } = status;
  const next: DaemonSetStatus = {
    ...(collisionCount !== undefined && { collisionCount }),
    ...counters,
    // The peer leaves counters out that are zero.
    ...optional("numberAvailable", numberAvailable),
    ...optional("numberUnavailable", numberUnavailable),
    observedGeneration: Math.max(observedGeneration, metadata.generation ?? 0),
    updateRevision: history.revision,
    ...(history.patchRevision !== "" && { patchRevision: history.patchRevision }),
    ...(compiled.patches.length > 0 && { patchStatuses: countPatches(compiled.patches.length, nodes) }),
  };
  const conditions = conditionsOf(report, (status.conditions ?? []) as Condition[], clock.now());
  await ctx.client.patchStatus(DAEMON_SET, daemonSet, {
    ...next,
    ...(conditions.length > 0 && { conditions }),
  });
}

function optional(name: string, value: number): Record<string, number> {
  return value === 0 ? {} : { [name]: value };
}

type Verdict = Pick<Condition, "status" | "reason" | "message">;

/** PatchesValid and PatchesApplied; conditions of others stay as they are (DSP-832). */
function conditionsOf(report: StatusReport, present: readonly Condition[], now: number): Condition[] {
  const { daemonSet, compiled, nodes, invalidPatch, featureDisabled } = report;
  const others = present.filter(({ type }) => type !== "PatchesValid" && type !== "PatchesApplied");
  if (compiled.patches.length === 0 && !featureDisabled) return others;
  const observedGeneration = daemonSet.metadata.generation ?? 0;
  const [badSelector] = compiled.patchSet.invalid;
  const problem =
    invalidPatch ??
    (badSelector === undefined ? undefined : `patches[${badSelector}].selector cannot be read`);
  const valid: Verdict = featureDisabled
    ? {
        status: "Unknown",
        reason: "FeatureDisabled",
        message: "patches are ignored while their feature gate is off",
      }
    : problem === undefined
      ? { status: "True", reason: "AllPatchesValid", message: "" }
      : { status: "False", reason: "InvalidPatch", message: problem };
  const rolling = nodes.some(({ eligibility, stalePatches }) => eligibility?.shouldRun && stalePatches);
  const applied: Verdict = rolling
    ? {
        status: "False",
        reason: "PatchRolloutInProgress",
        message: "some pods do not have the patches of their node yet",
      }
    : { status: "True", reason: "PatchesRolledOut", message: "" };
  const first = setCondition(present, { type: "PatchesValid", observedGeneration, ...valid }, now);
  return setCondition(first.conditions, { type: "PatchesApplied", observedGeneration, ...applied }, now)
    .conditions;
}
