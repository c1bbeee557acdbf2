/** What a kubelet would report of a pod: pure functions of the pod, its annotations and the time. */
import { createHash } from "node:crypto";
import { FAILING_IMAGE_TAG, TEST_ANNOTATIONS } from "../control-plane/stage.ts";
import {
  type Condition,
  type Container,
  type ContainerStatus,
  conditionOf,
  controllerOf,
  durationMs,
  isEnding,
  isFinished,
  type Pod,
  type PodStatus,
  timestamp,
} from "./objects.ts";

const { readyDelay, hold, fail, runTime, deleteDelay } = TEST_ANNOTATIONS;
/** Reasons in the condition ContainersReady; the message holds the time of readiness, or the value of the hold. */
const REASON_DELAY = "TestReadyDelay";
const REASON_HOLD = "TestHold";

/** What to do with a pod now, and when to look again. */
export interface Step {
  status?: PodStatus;
  remove?: boolean;
  /** Time to look again, ms since the Unix epoch. */
  at?: number;
}

const annotationOf = (pod: Pod, name: string): string => pod.metadata.annotations?.[name] ?? "";

interface Readiness {
  containers: boolean;
  reason: string;
  message: string;
  ready: boolean;
  readyReason: string;
  at?: number;
}

/** Whether containers and pod are ready; `delayUntil` is set while a delay runs. */
function readinessOf(pod: Pod, delayUntil: number | undefined, now: number): Readiness {
  const held = annotationOf(pod, hold);
  const waiting = delayUntil !== undefined && delayUntil > now;
  const containers = held === "" && !waiting;
  const gates = (pod.spec.readinessGates ?? []).every(
    ({ conditionType }) => conditionOf(pod.status, conditionType)?.status === "True",
  );
  const reason = held !== "" ? REASON_HOLD : waiting ? REASON_DELAY : "";
  const message = held !== "" ? held : waiting ? new Date(delayUntil).toISOString() : "";
  return {
    containers,
    reason,
    message,
    ready: containers && gates,
    readyReason: containers ? (gates ? "" : "ReadinessGatesNotReady") : "ContainersNotReady",
    ...(waiting && held === "" ? { at: delayUntil } : {}),
  };
}

function condition(pod: Pod, type: string, ok: boolean, now: number, reason = "", message = ""): Condition {
  const before = conditionOf(pod.status, type);
  const status = ok ? "True" : "False";
  const since = before?.status === status ? before.lastTransitionTime : timestamp(now);
  return {
    type,
    status,
    lastProbeTime: null,
    lastTransitionTime: since ?? timestamp(now),
    ...(reason === "" ? {} : { reason }),
    ...(message === "" ? {} : { message }),
  };
}

/** The conditions of the kubelet, and those of others as they are. */
function withConditions(pod: Pod, own: readonly Condition[]): Condition[] {
  const types = new Set(own.map(({ type }) => type));
  return [...(pod.status.conditions ?? []).filter(({ type }) => !types.has(type)), ...own];
}

function imageId(image: string): string {
  return `${image}@sha256:${createHash("sha256").update(image).digest("hex")}`;
}

function containerStatus(
  pod: Pod,
  { name, image }: Container,
  readiness: Readiness,
  now: number,
): ContainerStatus {
  const before = pod.status.containerStatuses?.find((status) => status.name === name);
  const replaced = before !== undefined && before.image !== image;
  const restartCount = (before?.restartCount ?? 0) + (replaced ? 1 : 0);
  const started = replaced
    ? undefined
    : (before?.state.running as { startedAt?: string } | undefined)?.startedAt;
  const held = readiness.reason === REASON_HOLD && readiness.message !== "true";
  return {
    name,
    image,
    imageID: imageId(image),
    containerID: `quartet://${createHash("sha256").update(`${pod.metadata.uid}/${name}/${restartCount}`).digest("hex")}`,
    restartCount,
    ready: readiness.containers,
    started: !held,
    state: held
      ? { waiting: { reason: readiness.message, message: "test" } }
      : { running: { startedAt: started ?? timestamp(now) } },
  };
}

function initStatus({ name, image, restartPolicy }: Container, now: number): ContainerStatus {
  const at = timestamp(now);
  const sidecar = restartPolicy === "Always";
  return {
    name,
    image,
    imageID: imageId(image),
    restartCount: 0,
    ready: true,
    started: sidecar,
    state: sidecar
      ? { running: { startedAt: at } }
      : { terminated: { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at } },
  };
}

function running(pod: Pod, readiness: Readiness, now: number): PodStatus {
  return {
    phase: "Running",
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    conditions: withConditions(pod, [
      condition(pod, "PodReadyToStartContainers", true, now),
      condition(pod, "Initialized", true, now),
      condition(pod, "ContainersReady", readiness.containers, now, readiness.reason, readiness.message),
      condition(pod, "Ready", readiness.ready, now, readiness.readyReason),
    ]),
    containerStatuses: pod.spec.containers.map((container) =>
      containerStatus(pod, container, readiness, now),
    ),
  };
}

function finished(pod: Pod, phase: "Succeeded" | "Failed", now: number, reason?: string): PodStatus {
  const at = timestamp(now);
  const ended = { startedAt: at, finishedAt: at };
  const terminated =
    phase === "Failed"
      ? { exitCode: 1, reason: "Error", ...ended }
      : { exitCode: 0, reason: "Completed", ...ended };
  return {
    phase,
    ...(reason === undefined ? {} : { reason }),
    conditions: withConditions(pod, [
      condition(pod, "ContainersReady", false, now, `Pod${phase}`),
      condition(pod, "Ready", false, now, `Pod${phase}`),
    ]),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: imageId(image),
      restartCount: pod.status.containerStatuses?.find((status) => status.name === name)?.restartCount ?? 0,
      ready: false,
      started: false,
      state: { terminated },
    })),
  };
}

function start(pod: Pod, now: number, addresses: PodStatus): Step {
  const delay = durationMs(annotationOf(pod, readyDelay));
  const readiness = readinessOf(pod, delay === 0 ? undefined : now + delay, now);
  const status: PodStatus = {
    ...running(pod, readiness, now),
    startTime: timestamp(now),
    ...(pod.spec.initContainers === undefined
      ? {}
      : { initContainerStatuses: pod.spec.initContainers.map((container) => initStatus(container, now)) }),
    ...addresses,
  };
  return { status, ...(readiness.at === undefined ? {} : { at: readiness.at }) };
}

function completion(pod: Pod, now: number): Step | undefined {
  if (controllerOf(pod)?.kind !== "Job") return undefined;
  const ready = conditionOf(pod.status, "ContainersReady");
  if (ready?.status !== "True") return undefined;
  // the annotation has milliseconds, the condition only whole seconds: count from the next one
  const wait = durationMs(annotationOf(pod, runTime));
  const end = wait === 0 ? now : Date.parse(ready.lastTransitionTime!) + 1000 + wait;
  return end <= now ? { status: finished(pod, "Succeeded", now) } : { at: end };
}

/** Why the pod has to fail; empty when it has not. */
function failureOf(pod: Pod): string {
  const image = pod.spec.containers.some((container) => container.image.endsWith(`:${FAILING_IMAGE_TAG}`));
  return annotationOf(pod, fail) || (image ? "TestFailImage" : "");
}

/** The next step of a pod that has a node. `addresses` are used when it starts. */
export function nextStep(pod: Pod, now: number, addresses: () => PodStatus): Step {
  if (isEnding(pod)) {
    if ((pod.metadata.finalizers ?? []).length > 0) return {};
    const grace = pod.metadata as { deletionGracePeriodSeconds?: number };
    const asked =
      Date.parse(pod.metadata.deletionTimestamp!) - (grace.deletionGracePeriodSeconds ?? 0) * 1000;
    const wait = durationMs(annotationOf(pod, deleteDelay));
    // the time of the request is cut to a second
    const end = wait === 0 ? now : asked + 1000 + wait;
    return end <= now ? { remove: true } : { at: end };
  }
  if (isFinished(pod)) return {};
  const failure = failureOf(pod);
  if (failure !== "") return { status: finished(pod, "Failed", now, failure) };
  if (pod.status.phase !== "Running") return start(pod, now, addresses());
  const before = conditionOf(pod.status, "ContainersReady");
  const until = before?.reason === REASON_DELAY ? Date.parse(before.message ?? "") : undefined;
  const readiness = readinessOf(pod, until, now);
  const done = readiness.containers ? completion(pod, now) : undefined;
  if (done?.status !== undefined) return done;
  const at = readiness.at ?? done?.at;
  return { status: running(pod, readiness, now), ...(at === undefined ? {} : { at }) };
}
