/** The phase: one word for the state of the installation. */
import { NACOS_FAILURE } from "../health/evaluate.ts";
import { quorumOf } from "../health/node-facts.ts";
import type { Outcome } from "./outcome.ts";

export type Phase = "Creating" | "Running" | "Failed";

/** Time for an installation to come up before it counts as failed, in milliseconds (as in the peer). */
const CREATION_LIMIT_MS = 180_000;
/** Failed checks of Nacos in a row before a running installation counts as failed. */
const FAILURE_LIMIT = 3;
/** Time for a rollout: a base and a share for each node, in milliseconds. */
const ROLLOUT_BASE_MS = 600_000;
const ROLLOUT_PER_NODE_MS = 120_000;

/** Phase after a pass. `createdAt` in milliseconds since the Unix epoch. */
export function nextPhase(previous: string, createdAt: number, outcome: Outcome): Phase {
  const { violations, health, workload, config, failures, replicas } = outcome;
  if (violations.some(({ reason }) => reason === "TypeUnknown")) return "Failed";
  if (violations.length === 0 && replicas === 0) return "Creating";
  if (stalledRollout(outcome)) return "Failed";
  if (outcome.recreating && isPhase(previous)) return previous;
  if (workload === undefined) {
    const waiting = config.problem !== undefined && violations.length === 0 && failures.length === 0;
    if (waiting) return "Creating";
    return previous === "Failed" || late(createdAt, outcome) ? "Failed" : "Creating";
  }
  if (health === undefined) return isPhase(previous) ? previous : "Creating";
  if (health.state === "passed") return "Running";
  if (previous === "Failed") return "Failed";
  if (previous === "Running") return afterFailedCheck(outcome);
  return late(createdAt, outcome) ? "Failed" : "Creating";
}

/** A running installation whose check failed. */
function afterFailedCheck(outcome: Outcome): Phase {
  const { health, workload, standalone, memory, replicas } = outcome;
  const moving = workload?.rolling === true || workload?.scaling === true;
  if (moving && standalone) return "Creating";
  const smaller = Math.min(replicas, memory.scaledFrom ?? replicas);
  if (moving && workload.readyPods >= quorumOf(smaller)) return "Running";
  if (health?.state === "failed" && health.code === NACOS_FAILURE) {
    return memory.nacosFailures >= FAILURE_LIMIT ? "Failed" : "Running";
  }
  return "Failed";
}

/** True when the time for coming up is over: since creation, the last change of the spec, or the rollout's begin. */
function late(createdAt: number, { now, memory }: Outcome): boolean {
  const since = Math.max(createdAt, memory.specChangedAt ?? 0, memory.rolloutSince ?? 0);
  return now - since > CREATION_LIMIT_MS;
}

/** True when a rollout takes longer than any sound one does. */
export function stalledRollout({ now, workload, memory, replicas }: Outcome): boolean {
  if (workload?.rolling !== true || memory.rolloutSince === undefined) return false;
  return now - memory.rolloutSince > ROLLOUT_BASE_MS + ROLLOUT_PER_NODE_MS * replicas;
}

function isPhase(phase: string): phase is Phase {
  return phase === "Creating" || phase === "Running" || phase === "Failed";
}
