/** Pods that belong to the DaemonSet without being controlled by it, and the other way round (DSP-706, 707). */
import {
  controllerOf,
  controllerReference,
  type DeepReadonly,
  isNotFound,
  keyOf,
  type ReconcileContext,
} from "@quartet/core";
import { POD, type Pod } from "@quartet/core/kinds";
import type { LabelMatcher } from "../desired/selector.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { ownPods } from "./observe.ts";

/** Index of pods without a controller, by namespace. */
export const ORPHANS = "orphans";

/**
 * The DaemonSet's pods after orphans that match have been adopted and own ones that do not match released. Both are
 * done only after a live read has shown that the DaemonSet is still the same and not being deleted.
 */
export async function claimPods(
  daemonSet: DeepReadonly<DaemonSet>,
  selects: LabelMatcher,
  ctx: ReconcileContext,
): Promise<readonly DeepReadonly<Pod>[]> {
  const own = ownPods(ctx, daemonSet);
  const matches = ({ metadata }: DeepReadonly<Pod>): boolean => selects(metadata.labels ?? {});
  const isLive = ({ metadata }: DeepReadonly<Pod>): boolean => metadata.deletionTimestamp === undefined;
  const released = own.filter((pod) => isLive(pod) && !matches(pod));
  const adopted = ctx.cache
    .byIndex(POD, ORPHANS, daemonSet.metadata.namespace ?? "")
    .filter((pod) => isLive(pod) && matches(pod) && controllerOf(pod) === undefined);
  if (released.length + adopted.length === 0) return own;
  await confirm(daemonSet, ctx);
  for (const pod of released) await release(pod, daemonSet, ctx);
  for (const pod of adopted) await adopt(pod, daemonSet, ctx);
  return ownPods(ctx, daemonSet).filter(matches);
}

async function confirm(daemonSet: DeepReadonly<DaemonSet>, { client }: ReconcileContext): Promise<void> {
  const live = await client.get(DAEMON_SET, keyOf(daemonSet));
  const { uid, deletionTimestamp } = live.metadata;
  if (uid === daemonSet.metadata.uid && deletionTimestamp === undefined) return;
  throw new Error(
    `DaemonSet ${live.metadata.name} is no longer the one that was read: no pod is claimed for it`,
  );
}

async function release(
  pod: DeepReadonly<Pod>,
  daemonSet: DeepReadonly<DaemonSet>,
  { client }: ReconcileContext,
): Promise<void> {
  const ownerReferences =
    pod.metadata.ownerReferences?.filter(({ uid }) => uid !== daemonSet.metadata.uid) ?? [];
  await write(pod, ownerReferences, client);
}

async function adopt(
  pod: DeepReadonly<Pod>,
  daemonSet: DeepReadonly<DaemonSet>,
  { client }: ReconcileContext,
): Promise<void> {
  const others = pod.metadata.ownerReferences ?? [];
  await write(pod, [...others, controllerReference(DAEMON_SET, daemonSet as DaemonSet)], client);
}

async function write(
  pod: DeepReadonly<Pod>,
  ownerReferences: readonly unknown[],
  client: ReconcileContext["client"],
): Promise<void> {
  // The uid keeps the write from a pod that has taken the name meanwhile.
  const { uid, resourceVersion } = pod.metadata;
  try {
    await client.patch(POD, keyOf(pod), {
      type: "merge",
      body: { metadata: { uid, resourceVersion, ownerReferences } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
