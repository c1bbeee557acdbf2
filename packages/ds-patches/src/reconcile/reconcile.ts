/** One pass over a DaemonSet in owner mode: history, missing and excess pods, the rolling update, the status. */
import {
  type Clock,
  childrenOf,
  type DeepReadonly,
  type Family,
  isProblem,
  keyOf,
  type Problem,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from "@quartet/core";
import { CONTROLLER_REVISION, NODE, POD, type Pod } from "@quartet/core/kinds";
import type { Labels } from "../api.ts";
import { minReadyMsOf } from "../desired/strategy.ts";
import { mapOf } from "../json.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { type Claimed, claim, ownedBy } from "./claim.ts";
import { openGates } from "./conditions.ts";
import type { History } from "./history.ts";
import { mergeDuplicates, trimHistory } from "./history-limit.ts";
import { expectationKey, type MemoryStore } from "./memory.ts";
import type { PatchMetrics } from "./metrics.ts";
import { type Observation, observe } from "./observe.ts";
import { restAfter } from "./rest.ts";
import { hashOf, RevisionCollision, recordHistory } from "./revisions.ts";
import { rollBack } from "./rollback.ts";
import { writeStatus } from "./status.ts";
import { syncPods } from "./sync.ts";
import { type Done, NOTHING, type PodWork, tell, together, type Work } from "./work.ts";

export interface ReconcilerOptions {
  readonly memories: MemoryStore;
  readonly metrics: PatchMetrics;
  readonly clock: Clock;
  /** For how long the labels of a node must have kept its patches before its pod is replaced for them; milliseconds. */
  readonly settleMs: number;
  /** The feature gate. */
  readonly patchesEnabled: boolean;
}

/** When to look again although no event has told of a pod that is awaited; milliseconds. */
const LOST_EVENT_MS = 30_000;

/** Pods have names of their own, so nothing of a family but its owner is asked for. */
const FAMILY: Family<DaemonSet> = { owner: DAEMON_SET, labels: () => ({}) };

export function createReconciler(options: ReconcilerOptions): Reconcile {
  return async (key, ctx) => {
    const daemonSet = await ctx.cache.get(DAEMON_SET, key);
    if (daemonSet === undefined || daemonSet.metadata.deletionTimestamp !== undefined) {
      options.memories.forget(key);
      options.metrics.forget(key);
      return;
    }
    const memory = options.memories.of(daemonSet);
    const { clock, metrics } = options;
    const restMs = memory.restsUntil - clock.monotonic();
    if (restMs > 0) return { requeueAfter: restMs, exact: true };
    const children = childrenOf(ctx, { family: FAMILY, owner: daemonSet, memory: memory.children, clock });
    try {
      return await pass({ daemonSet, memory, children, metrics, clock, ctx }, options);
    } finally {
      memory.restsUntil = clock.monotonic() + restAfter(memory.nodes);
    }
  };
}

async function pass(work: Work, options: ReconcilerOptions): Promise<Result | undefined> {
  const { memory } = work;
  const selects = memory.compiled.selectsPod;
  if (selects === undefined) {
    const note = "This daemon set is selecting all pods. A non-empty selector is required.";
    tell(work, { type: "Warning", reason: "SelectingAll", note });
    return undefined;
  }
  if (!selects(mapOf(work.daemonSet.spec.template.metadata?.labels) as Labels)) {
    // Whatever it made would not be its own, and be made again without end.
    const note = "spec.selector does not match spec.template.metadata.labels: nothing is made or replaced";
    tell(work, { type: "Warning", reason: "SelectorMismatch", note });
    return undefined;
  }
  const revisions = await claim(CONTROLLER_REVISION, selects, work);
  // A revision that could not be taken over would be made again under another name, and restart every pod.
  if (isHeld(revisions.done)) return await withoutHistory(revisions.done, work, options);
  const history = await historyOf(revisions.objects, work);
  if (isProblem(history)) {
    const note = `Error writing the history: ${history.message}`;
    tell(work, { type: "Warning", reason: "FailedCreate", note });
    return await withoutHistory({ ...NOTHING, problems: [history] }, work, options);
  }
  const podWork: PodWork = { ...work, history };
  const rolledBack = await rollBack(podWork);
  if (rolledBack.written) return undefined;
  const pods = await claim(POD, selects, work);
  return await act({ pods, rolledBack: rolledBack.done }, podWork, options);
}

async function act(
  { pods: { objects: pods, done: claimed }, rolledBack }: { pods: Claimed<Pod>; rolledBack: Done },
  work: PodWork,
  options: ReconcilerOptions,
): Promise<Result | undefined> {
  const { daemonSet, memory, metrics, history } = work;
  const current = [history.revision, ...history.duplicates.map(hashOf)];
  const observation = await look(pods, current, work, options);
  // Beside a pod that could not be taken over no other one is made.
  const isAwaited = isHeld(claimed) || !memory.expectations.satisfied(expectationKey(daemonSet));
  const opened = await openGates(observation.gated, work);
  const { done, againInMs } = isAwaited
    ? { done: opened, againInMs: LOST_EVENT_MS }
    : await syncPods(observation, work);
  const merged = await mergeDuplicates(pods, work);
  const told = await writeStatus(
    { ...reportOf(observation, work, options), history, isObserved: !isAwaited },
    work,
  );
  metrics.stale(daemonSet, observation.nodes.filter(({ stalePatches }) => stalePatches).length);
  const trimmed = await trimHistory(pods, work);
  return resultOf(
    together(rolledBack, claimed, opened, done, merged, told.done, trimmed),
    earliest(againInMs, told.againInMs),
  );
}

function isHeld({ problems, errors }: Done): boolean {
  return problems.length + errors.length > 0;
}

/** Without revisions of the present spec no pod is made or replaced; what there is is counted and told. */
async function withoutHistory(
  held: Done,
  work: Work,
  options: ReconcilerOptions,
): Promise<Result | undefined> {
  const { daemonSet, ctx } = work;
  const observation = await look(
    ownedBy(POD, daemonSet, ctx),
    [daemonSet.status?.updateRevision ?? ""],
    work,
    options,
  );
  const told = await writeStatus(
    { ...reportOf(observation, work, options), history: undefined, isObserved: false },
    work,
  );
  return resultOf(together(held, told.done), told.againInMs);
}

async function look(
  pods: readonly DeepReadonly<Pod>[],
  revisions: readonly string[],
  { daemonSet, memory, ctx, clock }: Work,
  { settleMs, patchesEnabled }: ReconcilerOptions,
): Promise<Observation> {
  const nodes = await ctx.cache.list(NODE);
  memory.nodes = nodes.length;
  const now = clock.now();
  const monotonic = () => clock.monotonic();
  return await observe({
    daemonSet,
    pods,
    nodes,
    memory,
    revisions: new Set(revisions),
    patchesEnabled,
    settleMs,
    now,
    monotonic,
  });
}

function reportOf({ nodes }: Observation, { daemonSet, clock }: Work, { patchesEnabled }: ReconcilerOptions) {
  const { patches = [] } = daemonSet.spec;
  return {
    nodes,
    featureDisabled: !patchesEnabled && patches.length > 0,
    minReadyMs: minReadyMsOf(daemonSet.spec as DaemonSet["spec"]),
    now: clock.now(),
  };
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** What was refused is due at its own time; anything else that failed is tried again as the queue has it. */
function resultOf({ problems, errors }: Done, againInMs: number | undefined): Result | undefined {
  const [error] = errors;
  if (error !== undefined) throw error;
  const waits = problems.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  const failed = problems.find(
    ({ retryAfterMs, cause }) => retryAfterMs === undefined && cause !== "terminating",
  );
  if (failed !== undefined) throw new Error(failed.message);
  const soonest = earliest(...waits, againInMs);
  return soonest === undefined ? undefined : { requeueAfter: soonest, exact: true };
}

async function historyOf(
  revisions: Parameters<typeof recordHistory>[0],
  work: Work,
): Promise<History | Problem> {
  const { daemonSet, ctx } = work;
  try {
    return await recordHistory(revisions, work);
  } catch (error) {
    if (error instanceof RevisionCollision) await countCollision(daemonSet, ctx);
    throw error;
  }
}

async function countCollision(daemonSet: DeepReadonly<DaemonSet>, ctx: ReconcileContext): Promise<void> {
  const collisionCount = (daemonSet.status?.collisionCount ?? 0) + 1;
  await ctx.client.patchStatus(DAEMON_SET, daemonSet, { ...daemonSet.status, collisionCount });
  ctx.log.info("Name of a revision is taken, another one is tried", {
    daemonSet: keyOf(daemonSet),
    collisionCount,
  });
}
