/** Which revisions go: more than are to be kept, and those that say the same twice (DSP-609, 618, 619). */
import { type DeepReadonly, keyOf } from "@quartet/core";
import { CONTROLLER_REVISION, POD, type Pod } from "@quartet/core/kinds";
import { PATCHES_APPLIED, PATCHES_HASH, REVISION_LABEL } from "../desired/keys.ts";
import { inBatches } from "./batches.ts";
import type { History, Revision } from "./history.ts";
import { hashOf, isSnapshot } from "./revisions.ts";
import { type Done, NOTHING, type PodWork, together, toldOf } from "./work.ts";

/** Old revisions of each kind that are kept unless the spec says otherwise (Kubernetes). */
const DEFAULT_HISTORY_LIMIT = 10;

/** Removes what the history limit leaves over. */
export async function trimHistory(pods: readonly DeepReadonly<Pod>[], work: PodWork): Promise<Done> {
  const { daemonSet, history } = work;
  const limit = daemonSet.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT;
  return removeRevisions(surplusRevisions(history, pods, limit), work);
}

/**
 * Old revisions beyond so many of each kind, the oldest first. Those that live pods name stay, and count: of a list of
 * patches the newest snapshot says all.
 */
export function surplusRevisions(
  { revisions, duplicates, revision, patchRevision }: Omit<History, "number" | "templateOf">,
  pods: readonly DeepReadonly<Pod>[],
  limit: number,
): Revision[] {
  const [snapshots = [], bases = []] = [true, false].map((wanted) =>
    revisions
      .filter((one) => isSnapshot(one) === wanted && !duplicates.includes(one))
      .sort((a, b) => a.revision - b.revision),
  );
  if (Math.max(snapshots.length, bases.length) <= limit) return [];
  const inUse = usedBy(pods);
  const newest = new Map(snapshots.map((one) => [listHashOf(one), one]));
  const isUsed = (one: Revision): boolean =>
    isSnapshot(one)
      ? inUse.patchLists.has(listHashOf(one)) && newest.get(listHashOf(one)) === one
      : inUse.revisions.has(hashOf(one));
  return [snapshots, bases].flatMap((kind) => {
    const old = kind.filter((one) => ![revision, patchRevision].includes(hashOf(one)));
    return old.filter((one) => !isUsed(one)).slice(0, Math.max(0, old.length - limit));
  });
}

function listHashOf({ metadata }: Revision): string {
  return metadata.annotations?.[PATCHES_HASH] ?? "";
}

/** Of revisions that hold the same template one stays; only the pods that name another one of them are relabelled. */
export async function mergeDuplicates(pods: readonly DeepReadonly<Pod>[], work: PodWork): Promise<Done> {
  const { history, children, memory, ctx } = work;
  if (history.duplicates.length === 0) return NOTHING;
  const hashes = new Set(history.duplicates.map(hashOf));
  const named = pods.filter(({ metadata }) => hashes.has(metadata.labels?.[REVISION_LABEL] ?? ""));
  const outcome = await inBatches(
    children,
    {
      id: "relabel pod",
      subjectOf: ({ metadata }) => `Pod ${metadata.name}`,
      wanted: [history.revision],
      items: named,
      nameOf: ({ metadata }) => metadata.name ?? "",
      write: (pod) => {
        const metadata = { uid: pod.metadata.uid, labels: { [REVISION_LABEL]: history.revision } };
        return ctx.client.patch(
          POD,
          keyOf(pod),
          { type: "merge", body: { metadata } },
          { signal: ctx.signal },
        );
      },
    },
    memory.refusedItems,
  );
  const relabelled = toldOf(outcome, { reason: "FailedUpdatePod", text: "Error relabelling" }, work);
  if (outcome.done < named.length) return relabelled;
  return together(relabelled, await removeRevisions(history.duplicates, work));
}

async function removeRevisions(revisions: readonly Revision[], { children }: PodWork): Promise<Done> {
  const problems = [];
  for (const revision of revisions) {
    const problem = await children.remove(CONTROLLER_REVISION, revision);
    if (problem !== undefined) problems.push(problem);
  }
  return { writes: revisions.length - problems.length, problems, errors: [] };
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
