/** The history: a revision for each template, and one for each list of patches (DSP-604 to 612). */
import { controllerReference, isAlreadyExists, isProblem, keyOf, type Problem } from "@quartet/core";
import { CONTROLLER_REVISION, type ControllerRevision } from "@quartet/core/kinds";
import type { PodTemplate } from "../api.ts";
import { canonicalJson } from "../desired/canonical.ts";
import { effectiveTemplate } from "../desired/effective-template.ts";
import { goTemplate } from "../desired/go-template.ts";
import {
  BASE_ONLY,
  PATCHES_HASH,
  REVISION_KIND,
  REVISION_LABEL,
  SNAPSHOT,
  SNAPSHOT_PREFIX,
} from "../desired/keys.ts";
import { baseData, readRevision, snapshotData, snapshotHash } from "../desired/revision-data.ts";
import { revisionHash } from "../desired/revision-hash.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import type { History, Revision } from "./history.ts";
import type { Work } from "./work.ts";

/** The name of a revision is taken by another content; the status gets a new collision count (DSP-608, D27). */
export class RevisionCollision extends Error {
  override readonly name = "RevisionCollision";
}

/** Sees to it that the current template and patches have their revisions; what the server refuses is returned. */
export async function recordHistory(all: readonly Revision[], work: Work): Promise<History | Problem> {
  const { compiled } = work.memory;
  const base = await baseRevision(all, work);
  if (isProblem(base)) return base;
  const result = {
    revision: hashOf(base),
    revisions: all,
    duplicates: equalBases(all, work).filter(({ metadata }) => metadata.name !== base.metadata.name),
    templateOf: (revision: string, patchesApplied: string) => templateOf(all, revision, patchesApplied),
  };
  if (compiled.patches.length === 0) return { ...result, patchRevision: "", number: base.revision };
  const { template } = work.daemonSet.spec as DaemonSet["spec"];
  const patchRevision = SNAPSHOT_PREFIX + snapshotHash(template, compiled.patches);
  const current = await snapshot(all, { patchRevision, after: base.revision }, work);
  return isProblem(current) ? current : { ...result, patchRevision, number: current.revision };
}

export function isSnapshot({ metadata }: Revision): boolean {
  return metadata.labels?.[REVISION_KIND] === SNAPSHOT;
}

export function hashOf({ metadata }: Revision): string {
  return metadata.labels?.[REVISION_LABEL] ?? "";
}

/** Canonical text of a revision's template; computed once, for revisions do not change. */
function textOf({ data }: Revision, { revisionTexts }: Work["memory"]): string {
  if (typeof data !== "object" || data === null) return "";
  const known = revisionTexts.get(data);
  if (known !== undefined) return known;
  const read = readRevision(data);
  const text = read === undefined ? "" : canonicalJson(goTemplate(read.template));
  revisionTexts.set(data, text);
  return text;
}

/** Base revisions that hold the current template, the newest first. */
function equalBases(all: readonly Revision[], { memory }: Pick<Work, "memory">): Revision[] {
  return all
    .filter((revision) => !isSnapshot(revision) && textOf(revision, memory) === memory.compiled.templateText)
    .sort((a, b) => b.revision - a.revision);
}

async function baseRevision(all: readonly Revision[], work: Work): Promise<Revision | Problem> {
  const { template, patches = [] } = work.daemonSet.spec as DaemonSet["spec"];
  const isBaseOnly = patches.length > 0;
  const [found] = equalBases(all, work);
  if (found !== undefined) {
    // Below a snapshot it is not the whole state: raised, it would seem to be the one before.
    if (isBaseOnly) return found;
    const newest = highest(all);
    return await renumbered(found, { newest, next: newest + 1, unmark: true }, work);
  }
  const { name } = work.daemonSet.metadata;
  const hash = revisionHash(work.memory.compiled.templateText, work.daemonSet.status?.collisionCount);
  return await created(
    {
      name: `${name}-${hash}`,
      labels: { ...labelsOf(template), [REVISION_LABEL]: hash },
      annotations: isBaseOnly ? { [BASE_ONLY]: "true" } : {},
      data: baseData(template),
      revision: highest(all) + 1,
    },
    work,
  );
}

async function snapshot(
  all: readonly Revision[],
  { patchRevision, after }: { patchRevision: string; after: number },
  work: Work,
): Promise<Revision | Problem> {
  const { template } = work.daemonSet.spec as DaemonSet["spec"];
  const { patches, patchSet } = work.memory.compiled;
  const found = all.find((revision) => hashOf(revision) === patchRevision);
  const newest = Math.max(highest(all), after);
  if (found !== undefined) return await renumbered(found, { newest, next: newest + 1 }, work);
  return await created(
    {
      name: `${work.daemonSet.metadata.name}-${patchRevision}`,
      labels: { ...labelsOf(template), [REVISION_LABEL]: patchRevision, [REVISION_KIND]: SNAPSHOT },
      annotations: { [PATCHES_HASH]: patchSet.listHash },
      data: snapshotData(template, patches),
      revision: newest + 1,
    },
    work,
  );
}

function labelsOf({ metadata }: PodTemplate): Record<string, string> {
  return (metadata?.labels ?? {}) as Record<string, string>;
}

function highest(revisions: readonly Revision[]): number {
  return revisions.reduce((most, { revision }) => Math.max(most, revision), 0);
}

/** The revision under the next number unless it is the newest already, and without the mark of a base that was never the whole state. */
async function renumbered(
  found: Revision,
  { newest, next, unmark = false }: { newest: number; next: number; unmark?: boolean },
  { children, ctx }: Work,
): Promise<Revision | Problem> {
  const isMarked = unmark && found.metadata.annotations?.[BASE_ONLY] !== undefined;
  if (found.revision === newest && !isMarked) return found;
  const body = {
    ...(found.revision < newest && { revision: next }),
    ...(isMarked && { metadata: { annotations: { [BASE_ONLY]: null } } }),
  };
  const id = `patch revision ${found.metadata.name}`;
  return await children.attempt(
    { id, subject: `ControllerRevision ${found.metadata.name}`, wanted: body },
    () =>
      ctx.client.patch(CONTROLLER_REVISION, keyOf(found), { type: "merge", body }, { signal: ctx.signal }),
  );
}

interface NewRevision {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  /** Text of the data. */
  readonly data: string;
  readonly revision: number;
}

async function created(wanted: NewRevision, { daemonSet, children, ctx }: Work): Promise<Revision | Problem> {
  const { name, labels, annotations, data, revision } = wanted;
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
  return await children.attempt(
    { id: "create revision", subject: `ControllerRevision ${name}`, wanted: [name, data] },
    async () => {
      try {
        return await ctx.client.create(CONTROLLER_REVISION, object, { signal: ctx.signal });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const there = await ctx.client.get(CONTROLLER_REVISION, key);
        const isOurs = there.metadata.ownerReferences?.some(({ uid }) => uid === daemonSet.metadata.uid);
        if (isOurs && canonicalJson(there.data) === canonicalJson(object.data)) return there;
        throw new RevisionCollision(`ControllerRevision ${name} exists with another content`);
      }
    },
  );
}

/** The template of a revision with the patches that an annotation names, as far as the history has both. */
function templateOf(all: readonly Revision[], hash: string, patchesApplied: string): PodTemplate | undefined {
  const base = all.find((revision) => !isSnapshot(revision) && hashOf(revision) === hash);
  const template = base && readRevision(base.data)?.template;
  if (template === undefined || patchesApplied === "") return template;
  const [list = "", order = ""] = patchesApplied.split("/");
  const holder = all.find(({ metadata }) => metadata.annotations?.[PATCHES_HASH] === list);
  const patches = holder && readRevision(holder.data)?.patches;
  const indexes = order.split(",").map(Number);
  const applied = patches && indexes.map((index) => patches[index]);
  if (applied === undefined || applied.includes(undefined)) return undefined;
  try {
    return effectiveTemplate(template, { indexes, patches: applied as NonNullable<typeof patches>[number][] })
      .template;
  } catch {
    // What was applied once is malformed by now: the pod is made anew.
    return undefined;
  }
}
