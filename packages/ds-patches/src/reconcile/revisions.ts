/** The history: a revision for each template, and one for each list of patches (DSP-604 to 620). */
import {
  CONTROLLER_INDEX,
  controllerReference,
  type DeepReadonly,
  isAlreadyExists,
  keyOf,
  type ReconcileContext,
} from "@quartet/core";
import { CONTROLLER_REVISION, type ControllerRevision } from "@quartet/core/kinds";
import { canonicalJson } from "../desired/canonical.ts";
import type { Compiled } from "../desired/compiled.ts";
import { goTemplate } from "../desired/go-template.ts";
import {
  BASE_ONLY,
  PATCHES_HASH,
  REVISION_KIND,
  REVISION_LABEL,
  SNAPSHOT,
  SNAPSHOT_PREFIX,
} from "../desired/keys.ts";
import {
  baseData,
  isSameTemplate,
  readRevision,
  snapshotData,
  snapshotHash,
} from "../desired/revision-data.ts";
import { revisionHash } from "../desired/revision-hash.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";

type Revision = DeepReadonly<ControllerRevision>;

/** Old revisions of each kind that are kept unless the spec says otherwise (Kubernetes). */
const DEFAULT_HISTORY_LIMIT = 10;

export interface History {
  /** H_t. */
  readonly revision: string;
  /** Suffix of the current snapshot's name; empty without patches. */
  readonly patchRevision: string;
}

/** The name of a revision is taken by another content; the status gets a new collision count (DSP-608, D27). */
export class RevisionCollision extends Error {
  override readonly name = "RevisionCollision";
}

/** Sees to it that the current template and patches have their revisions. */
export async function recordHistory(
  daemonSet: DeepReadonly<DaemonSet>,
  compiled: Compiled,
  ctx: ReconcileContext,
): Promise<History> {
  const all = ctx.cache.byIndex(CONTROLLER_REVISION, CONTROLLER_INDEX, daemonSet.metadata.uid ?? "");
  const { template } = daemonSet.spec as DaemonSet["spec"];
  const base = await baseRevision(daemonSet as DaemonSet, all, compiled.patches.length > 0, ctx);
  const revision = base.metadata.labels?.[REVISION_LABEL] ?? "";
  if (compiled.patches.length === 0) return { revision, patchRevision: "" };
  const patchRevision = SNAPSHOT_PREFIX + snapshotHash(template, compiled.patches);
  await snapshot(daemonSet as DaemonSet, all, compiled, { patchRevision, after: base.revision }, ctx);
  return { revision, patchRevision };
}

function isSnapshot({ metadata }: Revision): boolean {
  return metadata.labels?.[REVISION_KIND] === SNAPSHOT;
}

async function baseRevision(
  daemonSet: DaemonSet,
  all: readonly Revision[],
  isBaseOnly: boolean,
  ctx: ReconcileContext,
): Promise<Revision> {
  const { template } = daemonSet.spec;
  const equal = all
    .filter((revision) => !isSnapshot(revision))
    .filter(({ data }) => {
      const read = readRevision(data);
      return read !== undefined && isSameTemplate(read.template, template);
    })
    .sort((a, b) => b.revision - a.revision);
  const newest = highest(all.filter((revision) => !isSnapshot(revision)));
  const [found] = equal;
  if (found !== undefined) {
    return await renumbered(found, newest, { baseOnly: isBaseOnly ? undefined : null }, ctx);
  }
  const hash = revisionHash(canonicalJson(goTemplate(template)), daemonSet.status?.collisionCount);
  const { labels = {} } = (template.metadata ?? {}) as { labels?: Record<string, string> };
  return await created(
    {
      daemonSet,
      name: `${daemonSet.metadata.name}-${hash}`,
      labels: { ...labels, [REVISION_LABEL]: hash },
      annotations: isBaseOnly ? { [BASE_ONLY]: "true" } : {},
      data: baseData(template),
      revision: highest(all) + 1,
    },
    ctx,
  );
}

async function snapshot(
  daemonSet: DaemonSet,
  all: readonly Revision[],
  { patches, patchSet }: Compiled,
  { patchRevision, after }: { patchRevision: string; after: number },
  ctx: ReconcileContext,
): Promise<void> {
  const { template } = daemonSet.spec;
  const found = all.find(({ metadata }) => metadata.labels?.[REVISION_LABEL] === patchRevision);
  const newest = Math.max(highest(all), after);
  if (found !== undefined) {
    await renumbered(found, highest(all.filter(isSnapshot)), {}, ctx);
    return;
  }
  const { labels = {} } = (template.metadata ?? {}) as { labels?: Record<string, string> };
  await created(
    {
      daemonSet,
      name: `${daemonSet.metadata.name}-${patchRevision}`,
      labels: { ...labels, [REVISION_LABEL]: patchRevision, [REVISION_KIND]: SNAPSHOT },
      annotations: { [PATCHES_HASH]: patchSet.listHash },
      data: snapshotData(template, patches),
      revision: newest + 1,
    },
    ctx,
  );
}

function highest(revisions: readonly Revision[]): number {
  return revisions.reduce((most, { revision }) => Math.max(most, revision), 0);
}

/** The revision as the newest of its kind, and without the mark of a base that was never the whole state. */
async function renumbered(
  found: Revision,
  newest: number,
  { baseOnly }: { baseOnly?: null | undefined },
  ctx: ReconcileContext,
): Promise<Revision> {
  const unmark = baseOnly === null && found.metadata.annotations?.[BASE_ONLY] !== undefined;
  if (found.revision === newest && !unmark) return found;
  const body = {
    ...(found.revision < newest && { revision: newest + 1 }),
    ...(unmark && { metadata: { annotations: { [BASE_ONLY]: null } } }),
  };
  return await ctx.client.patch(CONTROLLER_REVISION, keyOf(found), { type: "merge", body });
}

interface NewRevision {
  readonly daemonSet: DaemonSet;
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  /** Text of the data. */
  readonly data: string;
  readonly revision: number;
}

async function created(wanted: NewRevision, { client }: ReconcileContext): Promise<Revision> {
  const { daemonSet, name, labels, annotations, data, revision } = wanted;
  const key = { namespace: daemonSet.metadata.namespace ?? "", name };
  const object: ControllerRevision = {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      ...key,
      labels,
      annotations: { ...daemonSet.metadata.annotations, ...annotations },
      ownerReferences: [controllerReference(DAEMON_SET, daemonSet)],
    },
    // Parsed in the order of its keys, the data is sent byte for byte as it was written.
    data: JSON.parse(data),
    revision,
  };
  try {
    return await client.create(CONTROLLER_REVISION, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const there = await client.get(CONTROLLER_REVISION, key);
    const isOurs = there.metadata.ownerReferences?.some(({ uid }) => uid === daemonSet.metadata.uid);
    if (isOurs && canonicalJson(there.data) === canonicalJson(object.data)) return there;
    throw new RevisionCollision(`ControllerRevision ${name} exists with another content`);
  }
}

/** Removes what the history limit leaves over; revisions that live pods name stay (DSP-618, 619). */
export async function trimHistory(
  daemonSet: DeepReadonly<DaemonSet>,
  { revision, patchRevision }: History,
  inUse: { readonly revisions: ReadonlySet<string>; readonly patchLists: ReadonlySet<string> },
  ctx: ReconcileContext,
): Promise<void> {
  const all = ctx.cache.byIndex(CONTROLLER_REVISION, CONTROLLER_INDEX, daemonSet.metadata.uid ?? "");
  const limit = daemonSet.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT;
  const isKept = (candidate: Revision): boolean => {
    const { labels = {}, annotations = {} } = candidate.metadata;
    const hash = labels[REVISION_LABEL] ?? "";
    return isSnapshot(candidate)
      ? hash === patchRevision || inUse.patchLists.has(annotations[PATCHES_HASH] ?? "")
      : hash === revision || inUse.revisions.has(hash);
  };
  for (const kind of [all.filter(isSnapshot), all.filter((candidate) => !isSnapshot(candidate))]) {
    const old = kind.filter((candidate) => !isKept(candidate)).sort((a, b) => a.revision - b.revision);
    for (const { metadata } of old.slice(0, Math.max(0, old.length - limit))) {
      await ctx.client.deleteIfExists(CONTROLLER_REVISION, keyOf({ metadata }), {
        ...(metadata.uid !== undefined && { preconditions: { uid: metadata.uid } }),
      });
    }
  }
}
