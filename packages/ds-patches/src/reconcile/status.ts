/** Writes the status, and only what changed of it (DSP-827 to 833). */
import { type Condition, isProblem, setCondition } from "@quartet/core";
import { type CountOptions, countNodes, countPatches } from "../desired/status.ts";
import { DAEMON_SET, type DaemonSetStatus } from "../kinds.ts";
import type { History } from "./history.ts";
import type { ObservedNode } from "./observe.ts";
import { type Done, NOTHING, tell, type Work } from "./work.ts";

export interface StatusReport extends CountOptions {
  readonly nodes: readonly ObservedNode[];
  /** `undefined` when the revisions of the present spec could not be written. */
  readonly history: Pick<History, "revision" | "patchRevision"> | undefined;
  /** The pass did all that this generation asks for by now; else its number is not told (DSP-829). */
  readonly isObserved: boolean;
  /** The feature gate is off while there are patches. */
  readonly featureDisabled: boolean;
}

export async function writeStatus(report: StatusReport, work: Work): Promise<Done> {
  const { nodes, history } = report;
  const { daemonSet, memory, children, ctx } = work;
  const { compiled } = memory;
  const { metadata } = daemonSet;
  const status = (daemonSet.status ?? {}) as Partial<DaemonSetStatus>;
  const { numberAvailable, numberUnavailable, ...counters } = countNodes(nodes, report);
  const { collisionCount, observedGeneration = 0, updateRevision, patchRevision } = status;
  const revisions = history ?? { revision: updateRevision ?? "", patchRevision: patchRevision ?? "" };
  const generation = report.isObserved ? (metadata.generation ?? 0) : 0;
  const next: DaemonSetStatus = {
    ...(collisionCount !== undefined && { collisionCount }),
    ...counters,
    // The peer leaves counters out that are zero.
    ...optional("numberAvailable", numberAvailable),
    ...optional("numberUnavailable", numberUnavailable),
    observedGeneration: Math.max(observedGeneration, generation),
    ...(revisions.revision !== "" && { updateRevision: revisions.revision }),
    ...(revisions.patchRevision !== "" && { patchRevision: revisions.patchRevision }),
    ...(compiled.patches.length > 0 && { patchStatuses: countPatches(compiled.patches.length, nodes) }),
  };
  const before = (status.conditions ?? []) as Condition[];
  const conditions = conditionsOf(report, before, work);
  const result = await children.attempt(
    { id: "patch status", subject: `Status of DaemonSet ${metadata.name}`, wanted: [] },
    () => {
      const body = { ...next, ...(conditions.length > 0 && { conditions }) };
      return ctx.client.patchStatus(DAEMON_SET, daemonSet, body, { signal: ctx.signal });
    },
  );
  if (isProblem(result)) {
    const note = `Error writing the status: ${result.message}`;
    tell(work, { type: "Warning", reason: "FailedUpdateStatus", note });
    return { ...NOTHING, problems: [result] };
  }
  if (isApplied(conditions) && !isApplied(before)) {
    const note = "All pods have the patches of their node";
    tell(work, { type: "Normal", reason: "PatchesRolledOut", note });
  }
  return NOTHING;
}

function isApplied(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === "PatchesApplied" && status === "True");
}

function optional(name: string, value: number): Record<string, number> {
  return value === 0 ? {} : { [name]: value };
}

type Verdict = Pick<Condition, "status" | "reason" | "message">;

/** PatchesValid and PatchesApplied; conditions of others stay as they are (DSP-832). */
function conditionsOf(
  { nodes, featureDisabled }: StatusReport,
  present: readonly Condition[],
  { daemonSet, memory: { compiled }, clock }: Work,
): Condition[] {
  const others = present.filter(({ type }) => type !== "PatchesValid" && type !== "PatchesApplied");
  if (compiled.patches.length === 0 && !featureDisabled) return others;
  const observedGeneration = daemonSet.metadata.generation ?? 0;
  const [badSelector] = compiled.patchSet.invalid;
  const problem =
    nodes.find(({ broken }) => broken)?.problem?.message ??
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
  const first = setCondition(present, { type: "PatchesValid", observedGeneration, ...valid }, clock.now());
  return setCondition(
    first.conditions,
    { type: "PatchesApplied", observedGeneration, ...applied },
    clock.now(),
  ).conditions;
}
