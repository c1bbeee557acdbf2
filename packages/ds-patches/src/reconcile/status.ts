/** Writes the status, and only what changed of it (DSP-827 to 833). */
import { type Condition, isProblem, sameJson, setCondition } from "@quartet/core";
import { type CountOptions, completes, countNodes, countPatches } from "../desired/status.ts";
import { strategyOf } from "../desired/strategy.ts";
import { DAEMON_SET, type DaemonSet, type DaemonSetStatus } from "../kinds.ts";
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

export interface StatusWritten {
  readonly done: Done;
  /** The status is to be written after so many milliseconds. */
  readonly againInMs: number | undefined;
}

/** Least time between two writes of which the second changes counters alone and completes nothing, milliseconds. */
const COUNTERS_MS = 1_000;

/** Writes what differs. Of counters that change all the time, as while a thousand pods come up, one a second is told. */
export async function writeStatus(report: StatusReport, work: Work): Promise<StatusWritten> {
  const { daemonSet, memory, clock } = work;
  const status = (daemonSet.status ?? {}) as Partial<DaemonSetStatus>;
  const next = nextStatus(report, status, work);
  const now = clock.monotonic();
  const wait = memory.statusWritten === undefined ? 0 : memory.statusWritten + COUNTERS_MS - now;
  const isProgress = sameJson(withoutCounters(next), withoutCounters(status)) && !completes(next, status);
  if (wait > 0 && isProgress) {
    return { done: NOTHING, againInMs: sameJson(next, status) ? undefined : wait };
  }
  if (!sameJson(next, status)) memory.statusWritten = now;
  return { done: await write(next, status, work), againInMs: undefined };
}

const COUNTERS: ReadonlySet<string> = new Set([
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "patchStatuses",
]);

function withoutCounters(status: object): object {
  return Object.fromEntries(Object.entries(status).filter(([field]) => !COUNTERS.has(field)));
}

async function write(next: DaemonSetStatus, before: Partial<DaemonSetStatus>, work: Work): Promise<Done> {
  const { daemonSet, children, ctx } = work;
  const subject = `Status of DaemonSet ${daemonSet.metadata.name}`;
  let asked = false;
  const result = await children.attempt({ id: "patch status", subject, wanted: [] }, () => {
    asked = true;
    return ctx.client.patchStatus(DAEMON_SET, daemonSet, next, { signal: ctx.signal });
  });
  if (isProblem(result)) {
    const note = `Error writing the status: ${result.message}`;
    if (asked) tell(work, { type: "Warning", reason: "FailedUpdateStatus", note });
    return { ...NOTHING, problems: [result] };
  }
  if (isApplied(next) && !isApplied(before)) {
    const note = "All pods have the patches of their node";
    tell(work, { type: "Normal", reason: "PatchesRolledOut", note });
  }
  return NOTHING;
}

function isApplied({ conditions = [] }: Partial<DaemonSetStatus>): boolean {
  return conditions.some(({ type, status }) => type === "PatchesApplied" && status === "True");
}

function nextStatus(report: StatusReport, status: Partial<DaemonSetStatus>, work: Work): DaemonSetStatus {
  const { nodes, history } = report;
  const { compiled } = work.memory;
  const { numberAvailable, numberUnavailable, ...counters } = countNodes(nodes, report);
  const { collisionCount, observedGeneration = 0, updateRevision, patchRevision } = status;
  const revisions = history ?? { revision: updateRevision ?? "", patchRevision: patchRevision ?? "" };
  const generation = report.isObserved ? (work.daemonSet.metadata.generation ?? 0) : 0;
  const conditions = conditionsOf(report, (status.conditions ?? []) as Condition[], work);
  return {
    ...(collisionCount !== undefined && { collisionCount }),
    ...counters,
    // The peer leaves counters out that are zero.
    ...optional("numberAvailable", numberAvailable),
    ...optional("numberUnavailable", numberUnavailable),
    observedGeneration: Math.max(observedGeneration, generation),
    ...(revisions.revision !== "" && { updateRevision: revisions.revision }),
    ...(revisions.patchRevision !== "" && { patchRevision: revisions.patchRevision }),
    ...(compiled.patches.length > 0 && { patchStatuses: countPatches(compiled.patches.length, nodes) }),
    ...(conditions.length > 0 && { conditions: conditions as NonNullable<DaemonSetStatus["conditions"]> }),
  };
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
  const stale = nodes.filter(({ eligibility, stalePatches }) => eligibility?.shouldRun && stalePatches);
  const { rolls } = strategyOf(daemonSet.spec as DaemonSet["spec"]);
  const applied: Verdict =
    stale.length > 0 && (!rolls || stale.every(({ broken }) => broken))
      ? {
          status: "False",
          reason: "PatchRolloutBlocked",
          message: rolls
            ? "the patches of some nodes cannot be applied"
            : "some pods do not have the patches of their node, and the update strategy replaces none",
        }
      : stale.length > 0
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
