/** Pods and revisions that belong to a DaemonSet without being controlled by it, and the other way round (DSP-620, 706, 707). */
import {
  CONTROLLER_INDEX,
  controlledBy,
  controllerOf,
  controllerReference,
  type DeepReadonly,
  isNotFound,
  type Kind,
  type KubeObject,
  keyOf,
  type OwnerReference,
  type ReconcileContext,
} from "@quartet/core";
import type { LabelMatcher } from "../desired/selector.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { inBatches } from "./batches.ts";
import { type Done, NOTHING, toldOf, type Work } from "./work.ts";

/** Index of objects without a controller, by namespace. */
export const ORPHANS = "orphans";

/** Objects that the DaemonSet controls, by its uid: the version of its API that they name does not matter (DSP-704). */
export function ownedBy<T extends KubeObject>(
  kind: Kind<T>,
  { metadata }: DeepReadonly<DaemonSet>,
  ctx: Pick<ReconcileContext, "cache">,
): readonly DeepReadonly<T>[] {
  return ctx.cache.byIndex(kind, CONTROLLER_INDEX, controlledBy(metadata.namespace, metadata.uid));
}

export interface Claimed<T> {
  readonly objects: readonly DeepReadonly<T>[];
  readonly done: Done;
}

/**
 * The DaemonSet's objects after orphans that match have been adopted and own ones that do not match released. Both are
 * done only after a live read has shown that the DaemonSet is still the same and not being deleted.
 */
export async function claim<T extends KubeObject>(
  kind: Kind<T>,
  selects: LabelMatcher,
  work: Work,
): Promise<Claimed<T>> {
  const { daemonSet, ctx, memory } = work;
  const own = ownedBy(kind, daemonSet, ctx);
  const matches = ({ metadata }: DeepReadonly<KubeObject>): boolean => selects(metadata.labels ?? {});
  const isLive = ({ metadata }: DeepReadonly<KubeObject>): boolean =>
    metadata.deletionTimestamp === undefined;
  const released = own.filter((object) => isLive(object) && !matches(object));
  const adopted = ctx.cache
    .byIndex(kind, ORPHANS, daemonSet.metadata.namespace ?? "")
    .filter((object) => isLive(object) && matches(object) && controllerOf(object) === undefined);
  const changes = [
    ...released.map((object) => ({ object, owners: ownersWithout(object, daemonSet) })),
    ...adopted.map((object) => ({ object, owners: ownersWith(object, daemonSet) })),
  ];
  if (changes.length === 0) return { objects: own, done: NOTHING };
  let confirmed = false;
  const outcome = await inBatches(
    work.children,
    {
      id: `claim ${kind.plural}`,
      subjectOf: ({ object }) => `${kind.kind} ${object.metadata.name}`,
      wanted: [],
      items: changes,
      nameOf: ({ object }) => object.metadata.name ?? "",
      async write({ object, owners }) {
        if (!confirmed) await confirm(daemonSet, ctx);
        confirmed = true;
        await writeOwners(kind, object, owners, ctx);
      },
    },
    memory.refusedItems,
  );
  const failure = { reason: "FailedClaim", text: "Error adopting or releasing" };
  return { objects: ownedBy(kind, daemonSet, ctx).filter(matches), done: toldOf(outcome, failure, work) };
}

async function confirm(daemonSet: DeepReadonly<DaemonSet>, { client }: ReconcileContext): Promise<void> {
  const live = await client.get(DAEMON_SET, keyOf(daemonSet));
  const { uid, deletionTimestamp } = live.metadata;
  if (uid === daemonSet.metadata.uid && deletionTimestamp === undefined) return;
  throw new Error(
    `DaemonSet ${live.metadata.name} is no longer the one that was read: nothing is claimed for it`,
  );
}

type Owners = readonly DeepReadonly<OwnerReference>[];

function ownersWithout({ metadata }: DeepReadonly<KubeObject>, daemonSet: DeepReadonly<DaemonSet>): Owners {
  return metadata.ownerReferences?.filter(({ uid }) => uid !== daemonSet.metadata.uid) ?? [];
}

function ownersWith({ metadata }: DeepReadonly<KubeObject>, daemonSet: DeepReadonly<DaemonSet>): Owners {
  return [...(metadata.ownerReferences ?? []), controllerReference(DAEMON_SET, daemonSet)];
}

async function writeOwners<T extends KubeObject>(
  kind: Kind<T>,
  object: DeepReadonly<T>,
  ownerReferences: Owners,
  { client, signal }: ReconcileContext,
): Promise<void> {
  // The uid keeps the write from an object that has taken the name meanwhile.
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  try {
    await client.patch(kind, keyOf(object), { type: "merge", body }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
