/** Records pods that end (R-080 to 083). */
import { type DeepReadonly, isConflict, isNotFound, keyOf, seconds } from "@quartet/core";
import type { TExitedRecord } from "../api.gen.ts";
import { exitedPod, withExited } from "../desired/exited-record.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_EXITED_RECORD } from "../kinds.ts";
import type { Pass } from "./pass.ts";

/** Tries when others write the record at the same time. */
const MAX_TRIES = 4;

/** Adds the pods that end or have ended, each once. */
export async function recordExited(pass: Pass): Promise<void> {
  const { ctx, server, pods, memory, clock, framework, informers } = pass;
  const now = seconds(clock.now());
  const ending = pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const ended = [...ending.map((pod) => exitedPod(pod, now)), ...memory.gone.values()];
  if (ended.length === 0) return;
  let record = informers.records.get(keyOf(server));
  for (let tries = 1; record !== undefined; tries += 1) {
    const next = withExited(record.pods, ended, framework.exitedPods);
    if (next === undefined) break;
    const { resourceVersion } = record.metadata;
    const body = { metadata: { resourceVersion }, pods: next };
    try {
      await ctx.client.patch(
        T_EXITED_RECORD,
        keyOf(server),
        { type: "merge", body },
        { signal: ctx.signal, fieldManager: FIELD_MANAGER },
      );
      break;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || tries >= MAX_TRIES) throw error;
      record = (await ctx.client.get(T_EXITED_RECORD, keyOf(server), {
        signal: ctx.signal,
      })) as DeepReadonly<TExitedRecord>;
    }
  }
  for (const { uid = "" } of ended) memory.gone.delete(uid);
}
