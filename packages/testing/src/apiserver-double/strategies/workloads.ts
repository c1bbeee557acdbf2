/** StatefulSet, Deployment, DaemonSet, ReplicaSet, Job, CronJob and the pod template they share. */
import { childOf, defaultKey, isRecord, type JsonObject, record, records, sameJson, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { type Cause, forbiddenField, invalidValue, required, unsupported } from "../status.ts";
import { strategy } from "./base.ts";
import { defaultPodSpec, defaultText } from "./pod-defaults.ts";
import { defaultClaim } from "./storage.ts";
import { checkLabels, checkPodSpec, checkSelector } from "./validation.ts";

const REVISION_HISTORY = 10;
const PROGRESS_DEADLINE_SECONDS = 600;
const BACKOFF_LIMIT = 6;

function checkTemplate(spec: JsonObject, field: string, restart: readonly string[]): Cause[] {
  const template = record(spec.template);
  const claims = records(spec.volumeClaimTemplates).map((claim) => text(record(claim.metadata).name));
  return [
    ...checkLabels(record(template.metadata).labels, `${field}.template.labels`),
    ...checkPodSpec(template.spec, `${field}.template.spec`, restart, claims),
  ];
}

/** Replicas, history and template: what all workload specs have. */
function defaultWorkload(spec: JsonObject): void {
  defaultKey(spec, "replicas", 1);
  defaultKey(spec, "revisionHistoryLimit", REVISION_HISTORY);
  defaultTemplate(spec);
}

function defaultTemplate(spec: JsonObject): void {
  defaultPodSpec(childOf(childOf(spec, "template"), "spec"), false);
}

function immutableSelector(object: KubeObject, old: KubeObject): Cause[] {
  const selector = record(object.spec).selector;
  if (sameJson(selector, record(old.spec).selector)) return [];
  return [invalidValue("spec.selector", selector, "field is immutable")];
}

function checkReplicas(spec: JsonObject): Cause[] {
  const replicas = spec.replicas;
  if (typeof replicas !== "number" || replicas >= 0) return [];
  return [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")];
}

/** Fields of a StatefulSet spec that no update may change. */
const STATEFUL_SET_IMMUTABLE = ["serviceName", "podManagementPolicy", "selector", "volumeClaimTemplates"];

const statefulSet: Strategy = strategy({
  status: true,
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    defaultText(spec, "podManagementPolicy", "OrderedReady");
    const update = childOf(spec, "updateStrategy");
    defaultText(update, "type", "RollingUpdate");
    if (update.type === "RollingUpdate") {
      const rolling = childOf(update, "rollingUpdate");
      defaultKey(rolling, "partition", 0);
      defaultKey(rolling, "maxUnavailable", 1);
    }
    const retention = childOf(spec, "persistentVolumeClaimRetentionPolicy");
    defaultText(retention, "whenDeleted", "Retain");
    defaultText(retention, "whenScaled", "Retain");
    defaultWorkload(spec);
    for (const claim of records(spec.volumeClaimTemplates)) {
      claim.apiVersion = "v1";
      claim.kind = "PersistentVolumeClaim";
      defaultClaim(claim as KubeObject);
    }
  },
  validate(object) {
    const spec = record(object.spec);
    const found = [...checkReplicas(spec), ...checkSelector(spec, "spec", "statefulset")];
    const policy = text(spec.podManagementPolicy);
    if (policy !== "OrderedReady" && policy !== "Parallel") {
      found.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
    }
    return [...found, ...checkTemplate(spec, "spec", ["Always"])];
  },
  validateUpdate(object, old) {
    const now = record(object.spec);
    const before = record(old.spec);
    return STATEFUL_SET_IMMUTABLE.filter((field) => !sameJson(now[field], before[field])).map((field) =>
      invalidValue(`spec.${field}`, now[field], "field is immutable"),
    );
  },
});

const deployment: Strategy = strategy({
  status: true,
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    const update = childOf(spec, "strategy");
    defaultText(update, "type", "RollingUpdate");
    if (update.type === "RollingUpdate") {
      const rolling = childOf(update, "rollingUpdate");
      defaultKey(rolling, "maxUnavailable", "25%");
      defaultKey(rolling, "maxSurge", "25%");
    }
    defaultKey(spec, "progressDeadlineSeconds", PROGRESS_DEADLINE_SECONDS);
    defaultWorkload(spec);
  },
  validate(object) {
    const spec = record(object.spec);
    const found = [...checkReplicas(spec), ...checkSelector(spec, "spec", "deployment")];
    if (record(spec.strategy).type === "Recreate" && record(spec.strategy).rollingUpdate !== undefined) {
      found.push(
        forbiddenField(
          "spec.strategy.rollingUpdate",
          "may not be specified when strategy `type` is 'Recreate'",
        ),
      );
    }
    return [...found, ...checkTemplate(spec, "spec", ["Always"])];
  },
  validateUpdate: immutableSelector,
});

const daemonSet: Strategy = strategy({
  status: true,
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    const update = childOf(spec, "updateStrategy");
    defaultText(update, "type", "RollingUpdate");
    if (update.type === "RollingUpdate") {
      const rolling = childOf(update, "rollingUpdate");
      defaultKey(rolling, "maxUnavailable", 1);
      defaultKey(rolling, "maxSurge", 0);
    }
    defaultKey(spec, "revisionHistoryLimit", REVISION_HISTORY);
    defaultTemplate(spec);
  },
  prepareCreate(object) {
    object.metadata.annotations = {
      ...object.metadata.annotations,
      "deprecated.daemonset.template.generation": "1",
    };
  },
  validate(object) {
    const spec = record(object.spec);
    return [...checkSelector(spec, "spec", "daemonset"), ...checkTemplate(spec, "spec", ["Always"])];
  },
  validateUpdate: immutableSelector,
});

const replicaSet: Strategy = strategy({
  status: true,
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    defaultKey(spec, "replicas", 1);
    defaultTemplate(spec);
  },
  validate(object) {
    const spec = record(object.spec);
    return [
      ...checkReplicas(spec),
      ...checkSelector(spec, "spec", "deployment"),
      ...checkTemplate(spec, "spec", ["Always"]),
    ];
  },
  validateUpdate: immutableSelector,
});

const JOB_RESTART = ["OnFailure", "Never"];

function checkJobTemplate(spec: JsonObject, field: string): Cause[] {
  const policy = text(record(record(spec.template).spec).restartPolicy);
  const pod = record(record(spec.template).spec);
  const found = checkPodSpec({ ...pod, restartPolicy: "Never" }, `${field}.template.spec`);
  if (policy === "Always" || policy === "") {
    found.push(required(`${field}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  } else if (!JOB_RESTART.includes(policy)) {
    found.push(unsupported(`${field}.template.spec.restartPolicy`, policy, JOB_RESTART));
  }
  return found;
}

function defaultJobSpec(spec: JsonObject): void {
  if (typeof spec.completions !== "number" && typeof spec.parallelism !== "number") spec.completions = 1;
  defaultKey(spec, "parallelism", 1);
  defaultKey(spec, "backoffLimit", BACKOFF_LIMIT);
  defaultKey(spec, "completionMode", "NonIndexed");
  defaultKey(spec, "suspend", false);
  defaultKey(spec, "manualSelector", false);
  defaultKey(spec, "podReplacementPolicy", "TerminatingOrFailed");
  defaultTemplate(spec);
}

const job: Strategy = strategy({
  status: true,
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    defaultJobSpec(spec);
    const labels = record(record(record(spec.template).metadata).labels);
    if (Object.keys(labels).length > 0 && Object.keys(record(object.metadata.labels)).length === 0) {
      object.metadata.labels = { ...labels } as Record<string, string>;
    }
  },
  prepareCreate(object) {
    const spec = childOf(object, "spec");
    if (spec.manualSelector === true) return;
    const uid = object.metadata.uid!;
    const metadata = childOf(childOf(spec, "template"), "metadata");
    const labels = childOf(metadata, "labels");
    for (const prefix of ["", "batch.kubernetes.io/"]) {
      labels[`${prefix}controller-uid`] = uid;
      labels[`${prefix}job-name`] = object.metadata.name;
    }
    if (!isRecord(spec.selector)) spec.selector = {};
    childOf(spec.selector as JsonObject, "matchLabels")["batch.kubernetes.io/controller-uid"] = uid;
    // the labels of a job without its own are those of its template
    object.metadata.labels ??= { ...labels } as Record<string, string>;
  },
  validate: (object) => checkJobTemplate(record(object.spec), "spec"),
  validateUpdate(object, old) {
    const now = record(object.spec);
    const before = record(old.spec);
    return ["completions", "selector", "template", "completionMode"]
      .filter((field) => !sameJson(now[field], before[field]))
      .map((field) => invalidValue(`spec.${field}`, now[field], "field is immutable"));
  },
});

const cronJob: Strategy = strategy({
  status: true,
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    defaultText(spec, "concurrencyPolicy", "Allow");
    defaultKey(spec, "suspend", false);
    defaultKey(spec, "successfulJobsHistoryLimit", 3);
    defaultKey(spec, "failedJobsHistoryLimit", 1);
    // the spec of a future job gets its template defaulted, and nothing else
    defaultTemplate(childOf(childOf(spec, "jobTemplate"), "spec"));
  },
  validate(object) {
    const spec = record(object.spec);
    const found = text(spec.schedule) === "" ? [required("spec.schedule")] : [];
    return [...found, ...checkJobTemplate(record(record(spec.jobTemplate).spec), "spec.jobTemplate.spec")];
  },
});

const podTemplate: Strategy = strategy({
  generation: "body",
  defaults(object) {
    defaultPodSpec(childOf(childOf(object, "template"), "spec"), false);
  },
  validate: (object) => [
    ...checkLabels(record(record(object.template).metadata).labels, "template.labels"),
    ...checkPodSpec(record(object.template).spec, "template.spec"),
  ],
});

const controllerRevision: Strategy = strategy({
  validate: (object) =>
    object.data === undefined || object.data === null ? [required("data", "data is mandatory")] : [],
  validateUpdate: (object, old) =>
    sameJson(object.data, old.data) ? [] : [invalidValue("data", object.data, "field is immutable")],
});

const podDisruptionBudget: Strategy = strategy({
  status: true,
  generation: "spec",
  unconditionalUpdate: false,
  validate(object) {
    const spec = record(object.spec);
    if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return [];
    return [invalidValue("spec", spec, "minAvailable and maxUnavailable cannot be both set")];
  },
});

export {
  controllerRevision,
  cronJob,
  daemonSet,
  deployment,
  job,
  podDisruptionBudget,
  podTemplate,
  replicaSet,
  statefulSet,
};
