/** Updates pods in place (DSP-818 to 825). */
import { isConflict, isNotFound } from "@quartet/core";
import { POD, type Pod } from "@quartet/core/kinds";
import { type InPlaceChange, inPlaceChange, inPlaceState } from "../desired/in-place.ts";
import { COMBINED_HASH, IN_PLACE_READY, IN_PLACE_STATE, PATCHES_APPLIED } from "../desired/keys.ts";
import type { PodFacts } from "../desired/objects.ts";
import type { PatchMatch } from "../desired/patch-set.ts";
import { patchAnnotations, versionLabels } from "../desired/pod.ts";
import { inBatches } from "./batches.ts";
import { patchConditions } from "./conditions.ts";
import type { ObservedNode } from "./observe.ts";
import { type Done, type PodWork, tell, toldOf } from "./work.ts";

/** A pod with what brings it to its node's template. */
export interface InPlaceUpdate {
  readonly pod: PodFacts;
  readonly match: PatchMatch;
  readonly change: InPlaceChange;
}

/** Says of a stale pod how it can be updated in place; `undefined` when it has to be made anew. */
export function inPlacePlanner(
  work: PodWork,
): (pod: PodFacts, node: ObservedNode) => InPlaceUpdate | undefined {
  const { memory, history } = work;
  const known = new Map<string, InPlaceChange | undefined>();
  return (pod, { match }) => {
    if (pod.inPlaceGate !== true || match === undefined) return undefined;
    const { revision = "", patchesApplied = "" } = pod;
    const id = `${match.mask} ${revision} ${patchesApplied}`;
    if (!known.has(id)) {
      const before = history.templateOf(revision, patchesApplied);
      known.set(id, before && inPlaceChange(before, memory.compiled.templateOf(match.mask).template));
    }
    const change = known.get(id);
    return change && { pod, match, change };
  };
}

export async function updateInPlace(updates: readonly InPlaceUpdate[], work: PodWork): Promise<Done> {
  const { children, memory, history } = work;
  let tried = false;
  const outcome = await inBatches(
    children,
    {
      id: "update pod",
      subjectOf: ({ pod }) => `Pod ${pod.name} of node ${pod.node}`,
      wanted: [history.revision, memory.compiled.patchSet.listHash],
      items: updates,
      nameOf: ({ pod }) => pod.node,
      async write(update) {
        const tries = !tried;
        tried = true;
        await updatePod(update, tries, work);
      },
    },
    memory.refusedItems,
  );
  return toldOf(outcome, { reason: "FailedUpdatePodInPlace", text: "Error updating" }, work);
}

/**
 * First the pod stops being called, then it changes; a pod that is left between the two is opened again.
 * @param tries asks the server first whether it would take the change, since a refusal would come too late
 */
async function updatePod(
  { pod, match, change }: InPlaceUpdate,
  tries: boolean,
  work: PodWork,
): Promise<void> {
  const { daemonSet, memory, history, ctx, clock } = work;
  const { namespace = "" } = daemonSet.metadata;
  const at = { key: { namespace, name: pod.name }, uid: pod.uid };
  const statuses = ctx.cache.source(POD).get(at.key)?.status?.containerStatuses ?? [];
  const applied =
    match.combinedHash === "" ? NO_PATCHES : patchAnnotations(match, memory.compiled.patchSet.listHash);
  const containers = Object.entries(change.images).map(([name, image]) => ({ name, image }));
  const body = {
    metadata: {
      uid: pod.uid,
      labels: { ...change.labels, ...versionLabels(daemonSet.metadata as Pod["metadata"], history.revision) },
      annotations: {
        ...change.annotations,
        ...applied,
        [IN_PLACE_STATE]: inPlaceState(history.revision, change.images, statuses, clock.now()),
      },
    },
    ...(containers.length > 0 && { spec: { containers } }),
  };
  try {
    if (tries)
      await ctx.client.patch(POD, at.key, { type: "strategic", body }, { signal: ctx.signal, dryRun: true });
    // Other labels and annotations disturb nobody.
    if (containers.length > 0) await patchConditions(at, UPDATING, work);
    await ctx.client.patch(POD, at.key, { type: "strategic", body }, { signal: ctx.signal });
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return;
    throw error;
  }
  const note = `Updated pod in place: ${pod.name} (revision ${history.revision})`;
  tell(work, { type: "Normal", reason: "SuccessfulUpdatePodInPlace", note });
}

const NO_PATCHES = { [COMBINED_HASH]: null, [PATCHES_APPLIED]: null };
const UPDATING = [
  { type: IN_PLACE_READY, status: "False", reason: "StartInPlaceUpdate" },
  { type: "Ready", status: "False", reason: "StartInPlaceUpdate" },
] as const;
