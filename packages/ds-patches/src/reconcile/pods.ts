/** Creates and deletes pods, and tells of it (DSP-733 to 735). */
import {
  type DeepReadonly,
  isNamespaceTerminating,
  isNotFound,
  messageOf,
  type ReconcileContext,
  slowStart,
} from "@quartet/core";
import { POD } from "@quartet/core/kinds";
import { PatchError } from "../desired/effective-template.ts";
import type { Deletion } from "../desired/manage.ts";
import { podFor } from "../desired/pod.ts";
import type { DaemonSet } from "../kinds.ts";
import type { DaemonSetMemory } from "./memory.ts";
import type { PatchMetrics } from "./metrics.ts";
import type { ObservedNode } from "./observe.ts";

/** Deletions that are under way at once. */
const PARALLEL_DELETIONS = 16;

export interface PodWork {
  readonly daemonSet: DeepReadonly<DaemonSet>;
  readonly memory: DaemonSetMemory;
  /** H_t. */
  readonly revision: string;
  readonly metrics: PatchMetrics;
}

/**
 * A pod for each of the nodes, in batches that grow while they succeed.
 * @returns what kept pods from being made, first of all patches that cannot be applied
 */
export async function createPods(
  nodes: readonly ObservedNode[],
  work: PodWork,
  ctx: ReconcileContext,
): Promise<unknown[]> {
  const broken: unknown[] = [];
  const pods = nodes.flatMap((node) => {
    try {
      return [{ node, pod: podOn(node, work) }];
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      work.metrics.failed(work.daemonSet, error.reason);
      broken.push(error);
      return [];
    }
  });
  reportBroken(broken, work, ctx);
  const { errors } = await slowStart(pods.length, async (index) => {
    const { node, pod } = pods[index]!;
    const { name } = (await ctx.client.create(POD, pod)).metadata;
    work.metrics.applied(work.daemonSet, node.patchIndexes.length);
    ctx.events.record(work.daemonSet as DaemonSet, {
      type: "Normal",
      reason: "SuccessfulCreate",
      note: `Created pod: ${name}`,
    });
  });
  const told = errors.filter((error) => !isNamespaceTerminating(error));
  for (const error of told.slice(0, 1)) {
    ctx.events.record(work.daemonSet as DaemonSet, {
      type: "Warning",
      reason: "FailedCreate",
      note: `Error creating: ${messageOf(error)}`,
    });
  }
  return [...broken, ...told];
}

function podOn({ name, match }: ObservedNode, { daemonSet, memory, revision }: PodWork) {
  const { compiled } = memory;
  const found = match ?? compiled.matchOf({});
  const { template } = compiled.templateOf(found.mask);
  return podFor({
    daemonSet: daemonSet as DaemonSet,
    node: name,
    template,
    match: found,
    listHash: compiled.patchSet.listHash,
    revision,
  });
}

/** One event for each set of patches that cannot be applied (DSP-511). */
function reportBroken(errors: readonly unknown[], { daemonSet }: PodWork, ctx: ReconcileContext): void {
  for (const note of new Set(errors.map(messageOf))) {
    ctx.events.record(daemonSet as DaemonSet, {
      type: "Warning",
      reason: "FailedApplyPatch",
      note,
      distinct: note,
    });
  }
}

/** Deletes pods, each only as the one that was read; returns what failed. */
export async function deletePods(
  deletions: readonly Deletion[],
  { daemonSet }: PodWork,
  ctx: ReconcileContext,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const pending = [...deletions];
  const next = async (): Promise<void> => {
    for (let one = pending.shift(); one !== undefined; one = pending.shift()) {
      const failure = await deletePod(one, daemonSet, ctx);
      if (failure !== undefined) errors.push(failure);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_DELETIONS }, next));
  return errors;
}

async function deletePod(
  { pod, reason }: Deletion,
  daemonSet: DeepReadonly<DaemonSet>,
  ctx: ReconcileContext,
): Promise<unknown> {
  const key = { namespace: daemonSet.metadata.namespace ?? "", name: pod.name };
  const tell = (type: "Normal" | "Warning", because: string, note: string): void =>
    ctx.events.record(daemonSet as DaemonSet, { type, reason: because, note });
  if (reason === "failed")
    tell(
      "Warning",
      "FailedDaemonPod",
      `Found failed daemon pod ${pod.name} on node ${pod.node}, will try to kill it`,
    );
  if (reason === "succeeded")
    tell(
      "Normal",
      "SucceededDaemonPod",
      `Found succeeded daemon pod ${pod.name} on node ${pod.node}, will replace it`,
    );
  try {
    await ctx.client.delete(POD, key, { preconditions: { uid: pod.uid } });
    tell("Normal", "SuccessfulDelete", `Deleted pod: ${pod.name}`);
    return undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    tell("Warning", "FailedDelete", `Error deleting: ${messageOf(error)}`);
    return error;
  }
}
