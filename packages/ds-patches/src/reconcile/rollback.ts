/** Goes back to an earlier revision when an annotation asks for it (DSP-621 to 628). */
import { isConflict, isProblem, type JsonPatchOperation, keyOf, type Problem } from "@quartet/core";
import { ROLLBACK_TO } from "../desired/keys.ts";
import { type RollbackTarget, rollbackOf } from "../desired/rollback.ts";
import { DAEMON_SET } from "../kinds.ts";
import { type Done, NOTHING, type PodWork, tell } from "./work.ts";

/** Member names in a JSON pointer. */
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
const ANNOTATION = `/metadata/annotations/${escaped(ROLLBACK_TO)}`;

export interface RolledBack {
  /** The DaemonSet was written, which starts another pass. */
  readonly written: boolean;
  /** What the server refused. */
  readonly done: Done;
}

const WRITTEN: RolledBack = { written: true, done: NOTHING };

/** Does what the annotation asks for and takes it off. */
export async function rollBack(work: PodWork): Promise<RolledBack> {
  const { daemonSet, history, memory } = work;
  const wanted = daemonSet.metadata.annotations?.[ROLLBACK_TO];
  if (wanted === undefined) {
    memory.failedRollback = undefined;
    return { written: false, done: NOTHING };
  }
  // What has failed once does not come about later, when nobody expects it any more.
  if (memory.failedRollback === wanted) return await takeOff(undefined, work);
  const rollback = rollbackOf(wanted.trim(), history.number, history.revisions);
  if (rollback === "unknown") {
    const note = `Unable to find revision ${JSON.stringify(wanted.slice(0, MAX_SHOWN))} to roll back to`;
    return await takeOff({ type: "Warning", reason: "RollbackRevisionNotFound", note }, work);
  }
  if (rollback === "unchanged") {
    const note = `Revision ${history.number} is the current state; nothing to roll back`;
    return await takeOff({ type: "Normal", reason: "RollbackTemplateUnchanged", note }, work);
  }
  return await restore(rollback.to, work);
}

/** Longest part of an annotation's value that an event shows. */
const MAX_SHOWN = 40;

async function restore({ revision, template, patches }: RollbackTarget, work: PodWork): Promise<RolledBack> {
  const { daemonSet, memory } = work;
  const hadPatches = daemonSet.spec.patches !== undefined;
  const operations: JsonPatchOperation[] = [
    { op: "replace", path: "/spec/template", value: template },
    ...(patches.length > 0 ? ([{ op: "add", path: "/spec/patches", value: patches }] as const) : []),
    ...(patches.length === 0 && hadPatches ? ([{ op: "remove", path: "/spec/patches" }] as const) : []),
  ];
  try {
    const problem = await write("roll back", operations, work);
    if (problem !== undefined) {
      memory.failedRollback = daemonSet.metadata.annotations?.[ROLLBACK_TO];
      const note = `Cannot roll back to revision ${revision}: ${problem.message}`;
      return await takeOff({ type: "Warning", reason: "RollbackFailed", note }, work);
    }
  } catch (error) {
    // Somebody has changed it meanwhile: the next pass looks again.
    if (!isConflict(error)) throw error;
    return WRITTEN;
  }
  tell(work, { type: "Normal", reason: "RollbackDone", note: `Rolled back to revision ${revision}` });
  return WRITTEN;
}

async function takeOff(event: Parameters<typeof tell>[1] | undefined, work: PodWork): Promise<RolledBack> {
  if (event !== undefined) tell(work, event);
  const problem = await write("take off the rollback", [], work);
  return problem === undefined ? WRITTEN : { written: false, done: { ...NOTHING, problems: [problem] } };
}

/** Writes the DaemonSet as it was read, without the annotation; why the server refuses it. */
async function write(
  id: string,
  operations: readonly JsonPatchOperation[],
  work: PodWork,
): Promise<Problem | undefined> {
  const { daemonSet, children, ctx } = work;
  const { name, resourceVersion } = daemonSet.metadata;
  const body: JsonPatchOperation[] = [
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    ...operations,
    { op: "remove", path: ANNOTATION },
  ];
  const result = await children.attempt(
    { id, subject: `DaemonSet ${name}`, wanted: [operations, ANNOTATION] },
    () =>
      ctx.client.patch(
        DAEMON_SET,
        keyOf(daemonSet),
        { type: "json", operations: body },
        { signal: ctx.signal },
      ),
  );
  return isProblem(result) ? result : undefined;
}
