/** Deletes pods, or marks those that a hook holds (DSP-727, 735, 738). */
import { isConflict, isNotFound } from "@quartet/core";
import { POD } from "@quartet/core/kinds";
import { NOT_READY_CONDITIONS, preparingMetadata } from "../desired/lifecycle.ts";
import type { Deletion } from "../desired/manage.ts";
import type { PodFacts } from "../desired/objects.ts";
import { inBatches } from "./batches.ts";
import { patchConditions } from "./conditions.ts";
import { expectationKey } from "./memory.ts";
import { type Done, type PodWork, tell, together, toldOf } from "./work.ts";

/** Deletes each pod only as the one that was seen. */
export async function deletePods(deletions: readonly Deletion[], work: PodWork): Promise<Done> {
  const isHeld = ({ pod }: Deletion): boolean => pod.hooked === true;
  const held = deletions.filter(isHeld).map(({ pod }) => pod);
  return together(
    await markPods(held, work),
    await remove(
      deletions.filter((one) => !isHeld(one)),
      work,
    ),
  );
}

async function remove(deletions: readonly Deletion[], work: PodWork): Promise<Done> {
  const { children, memory, history } = work;
  const outcome = await inBatches(
    children,
    {
      id: "delete pod",
      subjectOf: ({ pod }) => `Pod ${pod.name} of node ${pod.node}`,
      wanted: [history.revision],
      items: deletions,
      nameOf: ({ pod }) => pod.node,
      write: (deletion) => deletePod(deletion, work),
    },
    memory.refusedItems,
  );
  return toldOf(outcome, { reason: "FailedDelete", text: "Error deleting" }, work);
}

const EXPLANATIONS = {
  failed: {
    type: "Warning",
    reason: "FailedDaemonPod",
    text: "Found failed daemon pod",
    end: "will try to kill it",
  },
  succeeded: {
    type: "Normal",
    reason: "SucceededDaemonPod",
    text: "Found succeeded daemon pod",
    end: "will replace it",
  },
} as const;

async function deletePod({ pod, reason }: Deletion, work: PodWork): Promise<void> {
  const { daemonSet, memory, ctx } = work;
  const key = { namespace: daemonSet.metadata.namespace ?? "", name: pod.name };
  if (reason === "failed" || reason === "succeeded") {
    const { type, reason: because, text, end } = EXPLANATIONS[reason];
    tell(work, { type, reason: because, note: `${text} ${pod.name} on node ${pod.node}, ${end}` });
  }
  const expected = expectationKey(daemonSet);
  if (ctx.dryRun !== true) memory.expectations.expectDeletions(expected, [pod.uid]);
  try {
    await ctx.client.delete(POD, key, { preconditions: { uid: pod.uid }, signal: ctx.signal });
    tell(work, { type: "Normal", reason: "SuccessfulDelete", note: `Deleted pod: ${pod.name}` });
  } catch (error) {
    memory.expectations.deleted(expected, pod.uid);
    // Gone, or another pod has its name by now.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** Tells the hook of pods that they are about to go. */
async function markPods(pods: readonly PodFacts[], work: PodWork): Promise<Done> {
  const { daemonSet, memory, children, ctx, clock } = work;
  const { marksNotReady = false } = memory.compiled.preDelete ?? {};
  const outcome = await inBatches(
    children,
    {
      id: "mark pod",
      subjectOf: ({ name }) => `Pod ${name}`,
      wanted: [],
      items: pods,
      nameOf: ({ node }) => node,
      async write({ name, uid }) {
        const key = { namespace: daemonSet.metadata.namespace ?? "", name };
        const metadata = { uid, ...preparingMetadata(clock.now()) };
        await ctx.client.patch(POD, key, { type: "merge", body: { metadata } }, { signal: ctx.signal });
        if (marksNotReady) await patchConditions({ key, uid }, NOT_READY_CONDITIONS, work);
      },
    },
    memory.refusedItems,
  );
  return toldOf(outcome, { reason: "FailedDelete", text: "Error telling the hook" }, work);
}
