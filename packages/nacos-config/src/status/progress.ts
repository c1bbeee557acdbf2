/** Which news of a moving installation can wait, so that a node that restarts costs one write. */
import { type Condition, sameJson } from "@quartet/core";
import type { Outcome } from "./outcome.ts";
import type { NacosStatus } from "./status.ts";

/**
 * How long news that can wait is collected, in milliseconds: minReadySeconds and two more, so that one write has a node
 * that came back and passed its check together with the end of the next one.
 */
export const COLLECT_MS = 12_000;

/** True when nodes are coming, going or being replaced. */
export function isMoving({ workload }: Outcome, status: NacosStatus): boolean {
  return status.phase === "Creating" || workload?.rolling === true || workload?.scaling === true;
}

/**
 * True when two statuses differ in nothing but how far a movement has got: counts, single nodes, and what was said of
 * them; while the installation is being created, also why it is not ready yet. Phase, configuration, generation and all
 * other conditions never wait.
 */
export function differInProgressOnly(before: NacosStatus, after: NacosStatus): boolean {
  return sameJson(urgent(before), urgent(after)) && !sameJson(before, after);
}

/** What must be told at once. */
function urgent(status: NacosStatus): object {
  const { conditions, replicas, readyReplicas, event, operatorConditions = [], ...rest } = status;
  return {
    ...rest,
    operatorConditions: operatorConditions
      .filter(({ type }) => type !== "NodesVerified")
      .map((condition) => {
        const { type, status: value, reason, observedGeneration } = condition;
        return isProgress(condition, status)
          ? { type, value, observedGeneration }
          : { type, value, reason, observedGeneration };
      }),
  };
}

/** True when the reason of a condition tells how far a movement has got. */
function isProgress(
  { type, status, reason }: Condition,
  { phase, operatorConditions = [] }: NacosStatus,
): boolean {
  if (type === "Progressing") return status === "True";
  // Nodes of a new installation that have just become ready do not answer yet, or do not know each other.
  if (type !== "Ready" || phase !== "Creating") return false;
  const nodes = operatorConditions.find((condition) => condition.type === "NodesVerified");
  return reason === "Creating" || (nodes?.status === "False" && reason === nodes.reason);
}
