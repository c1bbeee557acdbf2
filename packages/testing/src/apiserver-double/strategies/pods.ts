/** Pods: what admission adds, what an update may change, how long a delete waits. */
import {
  childOf,
  cloneJson,
  defaultKey,
  items,
  type JsonObject,
  record,
  records,
  sameJson,
  text,
} from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { type Cause, forbiddenField, invalidValue } from "../status.ts";
import { strategy } from "./base.ts";
import { defaultPodSpec, defaultText, GRACE_SECONDS } from "./pod-defaults.ts";
import { checkPodSpec } from "./validation.ts";

/** Seconds that a pod stays on a node that is not ready or unreachable. */
const TOLERATION_SECONDS = 300;

const UPDATE_FORBIDDEN =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function addTolerations(spec: JsonObject): void {
  const tolerations = records(spec.tolerations);
  for (const key of ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]) {
    const covered = tolerations.some(
      (entry) =>
        (entry.key === key || entry.key === undefined) &&
        (entry.effect === "NoExecute" || entry.effect === undefined),
    );
    if (covered) continue;
    tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: TOLERATION_SECONDS });
  }
  spec.tolerations = tolerations;
}

type Amounts = Record<string, unknown>;

function qosClass(spec: JsonObject): string {
  let guaranteed = true;
  let anything = false;
  for (const container of [...records(spec.containers), ...records(spec.initContainers)]) {
    const { requests, limits } = record(container.resources);
    const wanted = record(requests) as Amounts;
    const most = record(limits) as Amounts;
    for (const name of ["cpu", "memory"]) {
      if (wanted[name] !== undefined || most[name] !== undefined) anything = true;
      if (most[name] === undefined || (wanted[name] ?? most[name]) !== most[name]) guaranteed = false;
    }
  }
  if (!anything) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

/** A pod spec without what an update may change. */
function fixedPart(spec: JsonObject, old: JsonObject): JsonObject {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...rest } = cloneJson(spec);
  for (const list of ["containers", "initContainers"]) {
    for (const container of records(rest[list])) delete container.image;
  }
  if (items(old.schedulingGates).length > 0) {
    delete rest.schedulingGates;
    delete rest.nodeSelector;
    delete rest.affinity;
  }
  delete rest.nodeName;
  return rest;
}

/** A toleration without the one part of it that may change. */
function fixedToleration(toleration: unknown): JsonObject {
  const { tolerationSeconds: _seconds, ...rest } = record(toleration);
  return rest;
}

function keepsTolerations(now: unknown, before: unknown): boolean {
  const kept = items(now).map(fixedToleration);
  return items(before).every((entry) =>
    kept.some((candidate) => sameJson(candidate, fixedToleration(entry))),
  );
}

function checkUpdate(object: KubeObject, old: KubeObject): Cause[] {
  const now = record(object.spec);
  const before = record(old.spec);
  if (items(now.containers).length !== items(before.containers).length) {
    return [forbiddenField("spec.containers", "pod updates may not add or remove containers")];
  }
  if (!keepsTolerations(now.tolerations, before.tolerations)) {
    const why = "existing toleration can not be modified except its tolerationSeconds";
    return [forbiddenField("spec.tolerations", why)];
  }
  const same =
    sameJson(fixedPart(now, before), fixedPart(before, before)) && now.nodeName === before.nodeName;
  return same ? [] : [forbiddenField("spec", UPDATE_FORBIDDEN)];
}

/** A template may name an image of blanks, a pod may not. */
function checkImages(spec: JsonObject): Cause[] {
  return ["initContainers", "containers"].flatMap((list) =>
    records(spec[list]).flatMap(({ image }, index) => {
      if (text(image) === text(image).trim()) return [];
      const field = `spec.${list}[${index}].image`;
      return [invalidValue(field, image, "must not have leading or trailing whitespace")];
    }),
  );
}

/** Containers and readiness gates of a new pod are not ready yet; the kubelet reports on them. */
export const pod: Strategy = strategy({
  status: true,
  generation: "spec",
  returnsDeleted: true,
  graceSeconds(object) {
    const phase = record(object.status).phase;
    const scheduled = record(object.spec).nodeName;
    // nobody runs it: there is nothing to wait for
    if (scheduled === undefined || phase === "Failed" || phase === "Succeeded") return 0;
    return Number(record(object.spec).terminationGracePeriodSeconds ?? GRACE_SECONDS);
  },
  defaults(object) {
    const spec = childOf(object, "spec");
    defaultPodSpec(spec, true);
  },
  prepareCreate(object) {
    const spec = childOf(object, "spec");
    defaultKey(spec, "priority", 0);
    defaultText(spec, "preemptionPolicy", "PreemptLowerPriority");
    addTolerations(spec);
    object.status = { phase: "Pending", qosClass: qosClass(spec) };
    if (items(spec.schedulingGates).length > 0) {
      const message = "Scheduling is blocked due to non-empty scheduling gates";
      object.status = {
        ...record(object.status),
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "SchedulingGated",
            message,
            lastProbeTime: null,
            lastTransitionTime: null,
          },
        ],
      };
    }
  },
  prepareUpdate: (object) => addTolerations(childOf(object, "spec")),
  validate: (object) => [...checkPodSpec(object.spec, "spec"), ...checkImages(record(object.spec))],
  validateUpdate: checkUpdate,
});

/** Puts a pod on a node; `undefined` when it already has one. */
export function bindPod(object: KubeObject, node: string, now: string): KubeObject | undefined {
  const bound = cloneJson(object);
  const spec = childOf(bound, "spec");
  if (typeof spec.nodeName === "string" && spec.nodeName !== "") return undefined;
  spec.nodeName = node;
  const status = childOf(bound, "status");
  const conditions = records(status.conditions).filter((condition) => condition.type !== "PodScheduled");
  conditions.push({ type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now });
  status.conditions = conditions;
  return bound;
}
