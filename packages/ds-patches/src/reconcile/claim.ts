/** Pods and revisions that belong to a DaemonSet without being controlled by it, and the other way round (DSP-620, 706, 707). */
import {
  CONTROLLER_INDEX,
  controllerOf,
  controllerReference,
  type DeepReadonly,
  isNotFound,
  type Kind,
  type KubeObject,
  keyOf,
  type ReconcileContext,
} from "@quartet/core";
import type { LabelMatcher } from "../desired/selector.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";

/** Index of objects without a controller, by namespace. */
export const ORPHANS = "orphans";

/** Objects that the DaemonSet controls, by its uid: the version of its API that they name does not matter. */
export function ownedBy<T extends KubeObject>(
  kind: Kind<T>,
  { metadata }: DeepReadonly<DaemonSet>,
  ctx: Pick<ReconcileContext, "cache">,
): readonly DeepReadonly<T>[] {
  return ctx.cache.byIndex(kind, CONTROLLER_INDEX, metadata.uid ?? "");
}

/**
 * The DaemonSet's objects after orphans that match have been adopted and own ones that do not match released. Both are
 * done only after a live read has shown that the DaemonSet is still the same and not being deleted.
 */
export async function claim<T extends KubeObject>(
  kind: Kind<T>,
  daemonSet: DeepReadonly<DaemonSet>,
  selects: LabelMatcher,
  ctx: ReconcileContext,
): Promise<readonly DeepReadonly<T>[]> {
  const own = ownedBy(kind, daemonSet, ctx);
  const matches = ({ metadata }: DeepReadonly<KubeObject>): boolean => selects(metadata.labels ?? {});
  const isLive = ({ metadata }: DeepReadonly<KubeObject>): boolean =>
    metadata.deletionTimestamp === undefined;
  const released = own.filter((object) => isLive(object) && !matches(object));
  const adopted = ctx.cache
    .byIndex(kind, ORPHANS, daemonSet.metadata.namespace ?? "")
    .filter((object) => isLive(object) && matches(object) && controllerOf(object) === undefined);
  if (released.length + adopted.length === 0) return own;
  await confirm(daemonSet, ctx);
  for (const object of released) await release(kind, object, daemonSet, ctx);
  for (const object of adopted) await adopt(kind, object, daemonSet, ctx);
  return ownedBy(kind, daemonSet, ctx).filter(matches);
}

async function confirm(daemonSet: DeepReadonly<DaemonSet>, { client }: ReconcileContext): Promise<void> {
  const live = await client.get(DAEMON_SET, keyOf(daemonSet));
  const { uid, deletionTimestamp } = live.metadata;
  if (uid === daemonSet.metadata.uid && deletionTimestamp === undefined) return;
  throw new Error(
    `DaemonSet ${live.metadata.name} is no longer the one that was read: nothing is claimed for it`,
  );
}

async function release<T extends KubeObject>(
  kind: Kind<T>,
  object: DeepReadonly<T>,
  daemonSet: DeepReadonly<DaemonSet>,
  { client }: ReconcileContext,
): Promise<void> {
  const ownerReferences =
    object.metadata.ownerReferences?.filter(({ uid }) => uid !== daemonSet.metadata.uid) ?? [];
  await write(kind, object, ownerReferences, client);
}

async function adopt<T extends KubeObject>(
  kind: Kind<T>,
  object: DeepReadonly<T>,
  daemonSet: DeepReadonly<DaemonSet>,
  { client }: ReconcileContext,
): Promise<void> {
  const others = object.metadata.ownerReferences ?? [];
  await write(kind, object, [...others, controllerReference(DAEMON_SET, daemonSet as DaemonSet)], client);
}

async function write<T extends KubeObject>(
  kind: Kind<T>,
  object: DeepReadonly<T>,
  ownerReferences: readonly unknown[],
  client: ReconcileContext["client"],
): Promise<void> {
  // The uid keeps the write from an object that has taken the name meanwhile.
  const { uid, resourceVersion } = object.metadata;
  try {
    await client.patch(kind, keyOf(object), {
      type: "merge",
      body: { metadata: { uid, resourceVersion, ownerReferences } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
