/** One pass over a DaemonSet in owner mode: history, missing and excess pods, the rolling update, the status. */
import {
  type Clock,
  type DeepReadonly,
  keyOf,
  messageOf,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from "@quartet/core";
import { NODE, type Pod } from "@quartet/core/kinds";
import { PatchError } from "../desired/effective-template.ts";
import { PATCHES_APPLIED, REVISION_LABEL } from "../desired/keys.ts";
import { type Deletion, type ManageSettings, planManagement } from "../desired/manage.ts";
import { nextAvailability, planRolling } from "../desired/rolling.ts";
import { DAEMON_SET, type DaemonSet, type RollingUpdate } from "../kinds.ts";
import { claimPods } from "./claim.ts";
import { type DaemonSetMemory, failurePause, type MemoryStore } from "./memory.ts";
import type { PatchMetrics } from "./metrics.ts";
import { type Observation, observe } from "./observe.ts";
import { createPods, deletePods, type PodWork } from "./pods.ts";
import { type History, RevisionCollision, recordHistory, trimHistory } from "./revisions.ts";
import { writeStatus } from "./status.ts";

/** Pods that are created, and deleted, in one pass at most, unless the spec says otherwise (peer). */
const DEFAULT_BURST = 250;
/** Budget of a rolling update that names none (peer). */
const DEFAULT_UNAVAILABLE = 1;

export interface ReconcilerOptions {
  readonly memories: MemoryStore;
  readonly metrics: PatchMetrics;
  readonly clock: Clock;
  /** For how long the labels of a node must have kept its patches before its pod is replaced for them; milliseconds. */
  readonly settleMs: number;
  /** The feature gate. */
  readonly patchesEnabled: boolean;
}

/** What became of the pods in a pass. */
interface Outcome {
  readonly errors: readonly unknown[];
  /** Look again after so many milliseconds, whatever happens. */
  readonly againInMs: number | undefined;
}

export function createReconciler(options: ReconcilerOptions): Reconcile {
  return async (key, ctx) => {
    const daemonSet = await ctx.cache.get(DAEMON_SET, key);
    if (daemonSet === undefined || daemonSet.metadata.deletionTimestamp !== undefined) {
      options.memories.forget(key);
      options.metrics.forget(key);
      return;
    }
    const memory = options.memories.of(daemonSet);
    const selects = memory.compiled.selectsPod;
    if (selects === undefined) {
      const note = "This daemon set is selecting all pods. A non-empty selector is required.";
      ctx.events.record(daemonSet as DaemonSet, { type: "Warning", reason: "SelectingAll", note });
      return;
    }
    const history = await historyOf(daemonSet, memory, ctx);
    const pods = await claimPods(daemonSet, selects, ctx);
    return await act(daemonSet, { memory, history, pods }, options, ctx);
  };
}

interface Found {
  readonly memory: DaemonSetMemory;
  readonly history: History;
  readonly pods: readonly DeepReadonly<Pod>[];
}

async function act(
  daemonSet: DeepReadonly<DaemonSet>,
  { memory, history, pods }: Found,
  options: ReconcilerOptions,
  ctx: ReconcileContext,
): Promise<Result | undefined> {
  const { clock, settleMs, patchesEnabled, metrics } = options;
  const minReadyMs = (daemonSet.spec.minReadySeconds ?? 0) * 1_000;
  const now = clock.now();
  const nodes = await ctx.cache.list(NODE);
  const observation = observe({
    daemonSet,
    pods,
    nodes,
    memory,
    revision: history.revision,
    patchesEnabled,
    settleMs,
    now,
  });
  const work: PodWork = { daemonSet, memory, revision: history.revision, metrics };
  const outcome = await sync(observation, work, { minReadyMs, now }, ctx);
  const invalid = outcome.errors.find((error) => error instanceof PatchError);
  await writeStatus(
    {
      daemonSet,
      compiled: memory.compiled,
      nodes: observation.nodes,
      history,
      invalidPatch: invalid === undefined ? undefined : messageOf(invalid),
      featureDisabled: !patchesEnabled && (daemonSet.spec.patches ?? []).length > 0,
      minReadyMs,
      now,
    },
    clock,
    ctx,
  );
  metrics.stale(daemonSet, observation.nodes.filter(({ stalePatches }) => stalePatches).length);
  await trimHistory(daemonSet, history, usedBy(pods), ctx);
  const [failure] = outcome.errors;
  if (failure !== undefined) throw failure;
  return outcome.againInMs === undefined ? undefined : { requeueAfter: outcome.againInMs, exact: true };
}

/** Creates and deletes what is missing or too much; only when there is nothing of it, the rolling update goes on. */
async function sync(
  { nodes, settlesInMs }: Observation,
  work: PodWork,
  { minReadyMs, now }: { minReadyMs: number; now: number },
  ctx: ReconcileContext,
): Promise<Outcome> {
  const { spec } = work.daemonSet as DaemonSet;
  const strategy = strategyOf(spec);
  const settings: ManageSettings = {
    surge: strategy.surges,
    burst: spec.burstReplicas ?? DEFAULT_BURST,
    creationPartition: spec.scaleStrategy?.partitionedScaling === true ? strategy.partition : 0,
    minReadyMs,
    now,
  };
  const plan = planManagement(nodes, settings);
  const { due, waitMs } = dueDeletions(plan.remove, work.memory, now);
  const pods = nodes.flatMap((node) => node.pods);
  const waits = [waitMs, settlesInMs, nextAvailability(pods, { minReadyMs, now })];
  const againInMs = waits.reduce<number | undefined>(
    (least, wait) => (wait === undefined ? least : Math.min(least ?? wait, wait)),
    undefined,
  );
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const onNodes = (names: readonly string[]) => names.map((name) => byName.get(name)!);
  if (due.length + plan.create.length > 0) {
    const failed = await deletePods(due, work, ctx);
    return { errors: [...failed, ...(await createPods(onNodes(plan.create), work, ctx))], againInMs };
  }
  if (!strategy.rolls) return { errors: [], againInMs };
  const step = planRolling(nodes, {
    ...strategy,
    isSelected: isSelected(work.memory, nodes),
    minReadyMs,
    now,
  });
  const replaced = step.replace.map((pod): Deletion => ({ pod, reason: "replaced" }));
  const failed = await deletePods(replaced, work, ctx);
  return { errors: [...failed, ...(await createPods(onNodes(step.surge), work, ctx))], againInMs };
}

function isSelected({ compiled }: DaemonSetMemory, nodes: Observation["nodes"]): (name: string) => boolean {
  const labels = new Map(nodes.map(({ name, labels: own }) => [name, own]));
  return (name) => compiled.selectsNode(labels.get(name) ?? {});
}

/** Deletions without those of failed pods whose node is still in its pause. */
function dueDeletions(
  deletions: readonly Deletion[],
  memory: DaemonSetMemory,
  now: number,
): { due: Deletion[]; waitMs: number | undefined } {
  let waitMs: number | undefined;
  const due = deletions.filter(({ pod, reason }) => {
    const pause = reason === "failed" ? failurePause(memory, pod.node, now) : 0;
    if (pause > 0) waitMs = Math.min(waitMs ?? pause, pause);
    return pause === 0;
  });
  return { due, waitMs };
}

interface Strategy extends Required<Pick<RollingUpdate, "maxUnavailable" | "maxSurge" | "partition">> {
  /** Pods are replaced without somebody deleting them. */
  readonly rolls: boolean;
  readonly surges: boolean;
}

/** The strategy with its defaults; of the two budgets, one that is not set counts as 0 beside the other (DSP-202). */
function strategyOf({ updateStrategy = {} }: DaemonSet["spec"]): Strategy {
  const { type = "RollingUpdate", rollingUpdate = {} } = updateStrategy;
  const { maxUnavailable, maxSurge = 0, partition = 0, paused = false } = rollingUpdate;
  const isRolling = type === "RollingUpdate";
  return {
    maxUnavailable: maxUnavailable ?? (rollingUpdate.maxSurge === undefined ? DEFAULT_UNAVAILABLE : 0),
    maxSurge,
    partition,
    rolls: isRolling && !paused,
    surges: isRolling && !["0", "0%"].includes(String(maxSurge)),
  };
}

async function historyOf(
  daemonSet: DeepReadonly<DaemonSet>,
  { compiled }: DaemonSetMemory,
  ctx: ReconcileContext,
): Promise<History> {
  try {
    return await recordHistory(daemonSet, compiled, ctx);
  } catch (error) {
    if (error instanceof RevisionCollision) {
      const collisionCount = (daemonSet.status?.collisionCount ?? 0) + 1;
      await ctx.client.patchStatus(DAEMON_SET, daemonSet, { ...daemonSet.status, collisionCount });
      ctx.log.info("Name of a revision is taken, another one is tried", {
        daemonSet: keyOf(daemonSet),
        collisionCount,
      });
    }
    throw error;
  }
}

/** Revisions and lists of patches that pods name. */
function usedBy(pods: readonly DeepReadonly<Pod>[]): { revisions: Set<string>; patchLists: Set<string> } {
  const revisions = new Set<string>();
  const patchLists = new Set<string>();
  for (const { metadata } of pods) {
    const revision = metadata.labels?.[REVISION_LABEL];
    const [list] = metadata.annotations?.[PATCHES_APPLIED]?.split("/") ?? [];
    if (revision !== undefined) revisions.add(revision);
    if (list !== undefined) patchLists.add(list);
  }
  return { revisions, patchLists };
}
