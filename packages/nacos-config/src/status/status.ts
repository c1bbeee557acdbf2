/** The whole status after a pass. */
import { seconds } from "@quartet/core";
import type { Nacos } from "../api.gen.ts";
import { versionDigest } from "../desired/digest.ts";
import type { NacosResource } from "../desired/settings.ts";
import { updateConditions } from "./conditions.ts";
import { recordEvent } from "./events.ts";
import { EVENT_CODES, type Outcome, type StepFailure } from "./outcome.ts";
import { nextPhase, type Phase, stalledRollout } from "./phase.ts";
import { conditionStates, stallMessage } from "./states.ts";

/** Conditions about systems that running nodes can do without for a while. */
const OUTSIDE: readonly StepFailure["condition"][] = ["DatabaseReady", "AdminReady"];

export type NacosStatus = NonNullable<Nacos["status"]>;

/** Status of a resource that is seen for the first time. */
export function firstStatus(): NacosStatus {
  return { phase: "Creating", healthy: false };
}

/** Status after a pass. It equals the present one when the pass found nothing new. */
export function nextStatus(resource: NacosResource, outcome: Outcome): NacosStatus {
  const previous = (resource.status ?? {}) as NacosStatus;
  const generation = resource.metadata.generation ?? 0;
  const now = seconds(outcome.now);
  const created = Date.parse(resource.metadata.creationTimestamp ?? "") || 0;
  const phase = nextPhase(previous.phase ?? "", created, outcome);
  const { code, message } = headline(outcome, phase);
  const states = conditionStates(outcome, phase);
  const standard = updateConditions(previous.operatorConditions ?? [], states, generation, outcome.now);
  const nodes = nodeFields(previous, outcome);
  return {
    ...previous,
    phase,
    healthy: phase === "Running",
    ...nodes,
    conditions: [...nodes.conditions, ...standard.map((condition) => ({ ...condition }))],
    // While the StatefulSet is made anew, what is known of it stays true.
    ...(outcome.recreating ? {} : workloadFields(outcome)),
    ...outcome.stepStatus,
    event: recordEvent(previous.event ?? [], code, message, now),
    versionDigest: versionDigest(resource.spec ?? {}),
    observedGeneration: generation,
    configMode: outcome.config.mode,
    operatorConditions: standard,
  };
}

/** The one thing to say about the pass. */
export function headline(outcome: Outcome, phase: Phase): { code: number; message: string } {
  const { violations, config, failures, health, workload } = outcome;
  const [violation] = violations;
  if (violation !== undefined) {
    return { code: EVENT_CODES.badParameter, message: `${violation.path}: ${violation.message}` };
  }
  if (config.problem !== undefined) {
    return { code: EVENT_CODES.badParameter, message: `${config.problem.reason}: ${config.problem.message}` };
  }
  // What fails outside the cluster is worth no more than the nodes' own word.
  const outside = failures.find(({ condition }) => OUTSIDE.includes(condition));
  const failure = failures.find(({ condition }) => !OUTSIDE.includes(condition));
  if (failure !== undefined) return { code: failure.code, message: `${failure.reason}: ${failure.message}` };
  if (stalledRollout(outcome)) return { code: EVENT_CODES.nacos, message: stallMessage(outcome) };
  if (health?.state === "failed") return { code: health.code, message: health.message };
  if (outside !== undefined) return { code: outside.code, message: `${outside.reason}: ${outside.message}` };
  if (phase !== "Running" && workload === undefined)
    return { code: EVENT_CODES.other, message: "being created" };
  return { code: EVENT_CODES.ok, message: "" };
}

type NodeFields = Pick<NacosStatus, "version"> & { conditions: NonNullable<NacosStatus["conditions"]> };

/** What is known of the nodes; in `conditions` they are told by their pods' names. */
function nodeFields(previous: NacosStatus, { health }: Outcome): NodeFields {
  if (health === undefined) {
    return { conditions: (previous.conditions ?? []).filter(({ podName }) => podName !== undefined) };
  }
  const version = health.state === "passed" ? health.version : undefined;
  return {
    conditions: health.nodes.map((node) => ({ ...node })),
    ...(version === undefined ? {} : { version }),
  };
}

function workloadFields({ workload, config }: Outcome): Partial<NacosStatus> {
  const merged = config.mounted.mode === "merged" ? config.mounted : undefined;
  return {
    configDigest: merged?.digest ?? "",
    finalConfigName: merged?.name ?? "",
    finalConfigKind: merged?.kind ?? "",
    replicas: workload?.replicas ?? 0,
    readyReplicas: workload?.readyPods ?? 0,
    templateRevision: workload?.revision ?? "",
    selector: workload?.selector ?? "",
  };
}
