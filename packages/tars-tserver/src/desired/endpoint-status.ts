/** State of a server's pods, as the registry reads it (R-070 to 075). */

import type { DeepReadonly } from "@quartet/core";
import { isMap } from "@quartet/pod-template";
import type { TEndpoint } from "../api.gen.ts";
import { ACTIVE_GATE, RELEASE_LABEL } from "../labels.ts";
import type { Pod, PodCondition } from "./k8s.ts";

export type PodState = NonNullable<TEndpoint["status"]>["pods"][number];
type ContainerState = NonNullable<PodState["containerStatuses"]>[number];

const ACTIVE = "Active";
/** Conditions in the order in which a pod reaches them. */
const ORDER = ["PodScheduled", "Initialized", "ContainersReady"];
/** Most parts of the reason that the registry sets: setting, present, process. */
const REASON_PARTS = 3;

/** One entry for each pod, by name. */
export function podStates(pods: readonly DeepReadonly<Pod>[]): PodState[] {
  return [...pods].sort((a, b) => compare(a.metadata.name ?? "", b.metadata.name ?? "")).map(podState);
}

/** Whether the registry routes to a pod (RG-007). */
export function isRouted({ settingState, presentState }: PodState): boolean {
  return settingState === ACTIVE && presentState === ACTIVE;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function podState({ metadata, status = {} }: DeepReadonly<Pod>): PodState {
  const { name = "", uid = "", creationTimestamp = "", labels } = metadata;
  const { podIP = "", hostIP = "", containerStatuses } = status;
  return {
    uid,
    name,
    podIP,
    hostIP,
    startTime: creationTimestamp,
    id: labels?.[RELEASE_LABEL] ?? "",
    ...(containerStatuses && { containerStatuses: containerStatuses.map(containerState) }),
    ...stateOf({ metadata, status }),
  };
}

type Reported = Pick<PodState, "settingState" | "presentState" | "presentMessage" | "pid">;

function stateOf({ metadata, status = {} }: Pick<DeepReadonly<Pod>, "metadata" | "status">): Reported {
  if (metadata.deletionTimestamp !== undefined) {
    const presentMessage = `pod/${metadata.name} is terminating`;
    return { settingState: ACTIVE, presentState: "Terminating", presentMessage };
  }
  const conditions = status.conditions ?? [];
  const find = (type: string): DeepReadonly<PodCondition> | undefined =>
    conditions.find((condition) => condition.type === type);
  const gate = find(ACTIVE_GATE);
  const ready = find("Ready");
  if (ready?.status === "True") {
    const pid = gate?.reason?.split("/")[2];
    return {
      settingState: ACTIVE,
      presentState: ACTIVE,
      presentMessage: ready.message ?? "",
      ...(pid && { pid }),
    };
  }
  const walked = walk(conditions);
  return walked.stopped || gate === undefined ? walked.state : reasonState(gate);
}

/** The first condition that is not met, or the last one that is. */
function walk(conditions: readonly DeepReadonly<PodCondition>[]): { stopped: boolean; state: Reported } {
  const first = ORDER.flatMap((type) => conditions.find((condition) => condition.type === type) ?? []);
  const others = conditions.filter(({ type }) => ![...ORDER, "Ready", ACTIVE_GATE].includes(type));
  let presentState = "";
  for (const { type, status, reason = "", message = "" } of [...first, ...others]) {
    if (status !== "True") {
      return {
        stopped: true,
        state: { settingState: ACTIVE, presentState: reason, presentMessage: message },
      };
    }
    presentState = type;
  }
  return { stopped: false, state: { settingState: ACTIVE, presentState, presentMessage: "" } };
}

/** What the registry says by the reason of its condition, `Setting/Present/Pid`. */
function reasonState({ reason = "", message = "" }: DeepReadonly<PodCondition>): Reported {
  const parts = reason.split("/");
  const [settingState = "", presentState, pid] = parts;
  if (parts.length > REASON_PARTS) {
    return { settingState: "Unknown", presentState: "Unknown", presentMessage: message };
  }
  return {
    settingState,
    presentMessage: message,
    ...(presentState !== undefined && { presentState }),
    ...(pid && { pid }),
  };
}

const STATE_FIELDS = {
  running: ["startedAt"],
  terminated: ["containerID", "exitCode", "finishedAt", "message", "reason", "signal", "startedAt"],
  waiting: ["message", "reason"],
} as const;

/** A container's status without what the schema does not know. */
function containerState(status: DeepReadonly<Record<string, unknown>>): ContainerState {
  const fields = ["name", "image", "imageID", "containerID", "ready", "started", "restartCount"];
  return {
    ...picked(status, fields),
    ...Object.fromEntries(
      ["state", "lastState"].flatMap((member) => {
        const value = status[member];
        return isMap(value) ? [[member, pickedState(value)]] : [];
      }),
    ),
  };
}

function pickedState(state: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(STATE_FIELDS).flatMap(([kind, fields]) => {
      const value = state[kind];
      return isMap(value) ? [[kind, picked(value, fields)]] : [];
    }),
  );
}

function picked(map: DeepReadonly<Record<string, unknown>>, fields: readonly string[]): object {
  return Object.fromEntries(fields.flatMap((field) => (map[field] == null ? [] : [[field, map[field]]])));
}
