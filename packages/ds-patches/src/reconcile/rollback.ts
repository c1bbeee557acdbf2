/** Goes back to an earlier revision when an annotation asks for it (DSP-621 to 628). */
import { isConflict, isProblem, type JsonPatchOperation, keyOf, messageOf } from "@quartet/core";
import { ROLLBACK_TO } from "../desired/keys.ts";
import { type RollbackTarget, rollbackOf } from "../desired/rollback.ts";
import { DAEMON_SET } from "../kinds.ts";
import { type PodWork, tell } from "./work.ts";

/** Member names in a JSON pointer. */
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
const ANNOTATION = `/metadata/annotations/${escaped(ROLLBACK_TO)}`;

/** Does what the annotation asks for and takes it off; true when the DaemonSet was written, which starts another pass. */
export async function rollBack(work: PodWork): Promise<boolean> {
  const { daemonSet, history } = work;
  const wanted = daemonSet.metadata.annotations?.[ROLLBACK_TO];
  if (wanted === undefined) return false;
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

async function restore({ revision, template, patches }: RollbackTarget, work: PodWork): Promise<boolean> {
  const { daemonSet } = work;
  const hadPatches = daemonSet.spec.patches !== undefined;
  const operations: JsonPatchOperation[] = [
    { op: "replace", path: "/spec/template", value: template },
    ...(patches.length > 0 ? ([{ op: "add", path: "/spec/patches", value: patches }] as const) : []),
    ...(patches.length === 0 && hadPatches ? ([{ op: "remove", path: "/spec/patches" }] as const) : []),
  ];
  try {
    const problem = await write(operations, work);
    if (problem !== undefined) {
      const note = `Cannot roll back to revision ${revision}: ${problem}`;
      return await takeOff({ type: "Warning", reason: "RollbackFailed", note }, work);
    }
  } catch (error) {
    // Somebody has changed it meanwhile: the next pass looks again.
    if (!isConflict(error)) throw error;
    return true;
  }
  tell(work, { type: "Normal", reason: "RollbackDone", note: `Rolled back to revision ${revision}` });
  return true;
}

async function takeOff(event: Parameters<typeof tell>[1], work: PodWork): Promise<boolean> {
  const problem = await write([], work);
  tell(work, event);
  if (problem !== undefined) work.ctx.log.warn("Annotation stays", { annotation: ROLLBACK_TO, problem });
  return problem === undefined;
}

/** Writes the DaemonSet as it was read, without the annotation; why the server refuses it. */
async function write(operations: readonly JsonPatchOperation[], work: PodWork): Promise<string | undefined> {
  const { daemonSet, children, ctx } = work;
  const { name, resourceVersion } = daemonSet.metadata;
  const body: JsonPatchOperation[] = [
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    ...operations,
    { op: "remove", path: ANNOTATION },
  ];
  try {
    const result = await children.attempt(
      { id: "roll back", subject: `DaemonSet ${name}`, wanted: [operations, ANNOTATION] },
      () =>
        ctx.client.patch(
          DAEMON_SET,
          keyOf(daemonSet),
          { type: "json", operations: body },
          { signal: ctx.signal },
        ),
    );
    return isProblem(result) ? result.message : undefined;
  } catch (error) {
    if (isConflict(error)) throw error;
    return messageOf(error);
  }
}
