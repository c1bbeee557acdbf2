/** Pods that have ended, newest first (R-080 to 082). */
import type { DeepReadonly } from "@quartet/core";
import type { TExitedRecord } from "../api.gen.ts";
import { RELEASE_LABEL } from "../labels.ts";
import type { Pod } from "./k8s.ts";

export type ExitedPod = TExitedRecord["pods"][number];

/** What is recorded of a pod that ends or has ended. `now` is for pods that went without a mark. */
export function exitedPod({ metadata, status }: DeepReadonly<Pod>, now: string): ExitedPod {
  const { uid = "", name = "", labels, creationTimestamp = "", deletionTimestamp = now } = metadata;
  return {
    uid,
    name,
    id: labels?.[RELEASE_LABEL] ?? "",
    nodeIP: status?.hostIP ?? "",
    podIP: status?.podIP ?? "",
    createTime: creationTimestamp,
    deleteTime: deletionTimestamp,
  };
}

/**
 * The list with the pods that are not in it yet, cut to the limit; `undefined` when all of them are.
 * @param ended in the order in which they ended
 */
export function withExited(
  pods: readonly DeepReadonly<ExitedPod>[],
  ended: readonly ExitedPod[],
  limit: number,
): ExitedPod[] | undefined {
  const known = new Set(pods.map(({ uid }) => uid));
  const added = ended.filter(({ uid }) => !known.has(uid));
  if (added.length === 0) return undefined;
  return [...added.reverse(), ...pods].slice(0, limit).map((pod) => ({ ...pod }));
}
