/** The states of the standard conditions after a pass. */
import { type ConditionState, conditionState as state } from "./conditions.ts";
import type { Outcome } from "./outcome.ts";
import type { Phase } from "./phase.ts";
import { stalledRollout } from "./phase.ts";

/** All conditions, in their fixed order. */
export function conditionStates(outcome: Outcome, phase: Phase): ConditionState[] {
  return [
    ready(outcome, phase),
    specValid(outcome),
    configReady(outcome),
    ...reported(outcome, "DatabaseReady"),
    ...reported(outcome, "AdminReady"),
    progressing(outcome, phase),
    ...nodesVerified(outcome),
  ];
}

function ready(outcome: Outcome, phase: Phase): ConditionState {
  const failure = outcome.failures.find(({ condition }) => condition === undefined);
  if (failure !== undefined) return state("Ready", "False", failure.reason, failure.message);
  if (phase === "Running") return state("Ready", "True", "Running", "the nodes form a healthy installation");
  const { health, violations, config } = outcome;
  if (violations.length > 0) return state("Ready", "False", "SpecInvalid", "see condition SpecValid");
  if (stalledRollout(outcome)) return state("Ready", "False", "RolloutStalled", stallMessage(outcome));
  if (health?.state === "failed") return state("Ready", "False", health.reason, health.message);
  if (config.problem !== undefined)
    return state("Ready", "False", "ConfigNotReady", "see condition ConfigReady");
  return state("Ready", "False", phase, "the nodes are coming up");
}

/** What holds up a rollout. */
export function stallMessage({ workload }: Outcome): string {
  const pod = workload?.stuckPod;
  return `rollout stalled${pod === undefined ? "" : `: pod ${pod} does not become ready`}`;
}

function specValid({ violations, failures }: Outcome): ConditionState {
  const [first] = violations;
  if (first !== undefined) {
    const message = violations.map((violation) => `${violation.path}: ${violation.message}`).join("; ");
    return state("SpecValid", "False", first.reason, message);
  }
  const refused = failures.find(({ condition }) => condition === "SpecValid");
  if (refused !== undefined) return state("SpecValid", "False", refused.reason, refused.message);
  return state("SpecValid", "True", "Valid");
}

function configReady({ config }: Outcome): ConditionState {
  const { problem } = config;
  if (problem !== undefined) return state("ConfigReady", "False", problem.reason, problem.message);
  const reasons = { none: "NotConfigured", legacy: "Legacy", merged: "Merged" };
  return state("ConfigReady", "True", reasons[config.mode], config.message);
}

/** A condition that a step reports on; absent when none does. */
function reported({ failures, reports }: Outcome, type: "DatabaseReady" | "AdminReady"): ConditionState[] {
  const failure = failures.find(({ condition }) => condition === type);
  if (failure !== undefined) return [state(type, "False", failure.reason, failure.message)];
  const report = reports.find((entry) => entry.type === type);
  return report === undefined ? [] : [report];
}

function progressing(outcome: Outcome, phase: Phase): ConditionState {
  const { paused, workload, replicas, violations } = outcome;
  const of = (status: ConditionState["status"], reason: string, message: string): ConditionState =>
    state("Progressing", status, reason, message + versionCounts(outcome));
  if (paused) return of("False", "Paused", "the annotation nacos.io/paused suspends all changes");
  if (outcome.recreating) return of("True", "Recreating", "the StatefulSet is made anew, the pods run on");
  if (workload === undefined) {
    return violations.length > 0
      ? of("False", "SpecInvalid", "see condition SpecValid")
      : of("True", "Creating", "");
  }
  if (violations.length === 0 && replicas === 0) return of("False", "ScaledToZero", "");
  if (outcome.awaited !== undefined) {
    const pods =
      outcome.awaited === 1 ? "1 pod that is ready is" : `${outcome.awaited} pods that are ready are`;
    return of("True", "WaitingForAvailability", `the change is made once ${pods} available`);
  }
  const updated = `${workload.updatedReplicas}/${workload.replicas}`;
  if (workload.scaling) {
    const { scaledFrom } = outcome.memory;
    const from = scaledFrom === undefined ? "" : `, from ${scaledFrom}`;
    return of("True", "Scaling", `${workload.readyPods}/${replicas} nodes are ready${from}`);
  }
  if (workload.rolling) return of("True", "RollingUpdate", updated);
  if (phase === "Creating" || workload.unreported)
    return of("True", "Creating", `${workload.readyPods}/${replicas} nodes are ready`);
  const { partition } = workload;
  if (partition === undefined) return of("False", "RolloutComplete", updated);
  return of("False", "Partitioned", `${updated}; pods below ordinal ${partition} keep the older template`);
}

/** Counts of nodes by version while they differ. */
function versionCounts({ health }: Outcome): string {
  if (health?.state !== "passed" || health.versions.size < 2) return "";
  const counts = [...health.versions].sort(([a], [b]) => (a < b ? -1 : 1));
  return `; versions: ${counts.map(([version, count]) => `${version} on ${count}`).join(", ")}`;
}

function nodesVerified({ health }: Outcome): ConditionState[] {
  if (health === undefined) return [];
  if (health.state === "failed") return [state("NodesVerified", "False", health.reason, health.message)];
  const { unverified } = health;
  if (unverified === undefined) return [state("NodesVerified", "True", "Verified")];
  return [state("NodesVerified", "Unknown", unverified.reason, unverified.message)];
}
