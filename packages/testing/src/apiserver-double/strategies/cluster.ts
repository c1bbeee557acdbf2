/** Namespaces, nodes, leases, events, rights and the remaining small kinds. */
import { childOf, defaultKey, isRecord, items, record, records, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { type Cause, forbidden, invalidValue, required } from "../status.ts";
import { strategy } from "./base.ts";
import { defaultText } from "./pod-defaults.ts";

/** Namespaces that cannot be deleted. */
const IMMORTAL = ["default", "kube-system", "kube-public"];

export const namespace: Strategy = strategy({
  status: true,
  name: "label",
  returnsDeleted: true,
  defaults(object) {
    object.metadata.labels = {
      ...object.metadata.labels,
      "kubernetes.io/metadata.name": object.metadata.name,
    };
    defaultText(childOf(object, "status"), "phase", "Active");
  },
  prepareCreate(object) {
    const spec = childOf(object, "spec");
    if (!items(spec.finalizers).includes("kubernetes"))
      spec.finalizers = [...items(spec.finalizers), "kubernetes"];
    object.status = { phase: "Active" };
  },
  prepareUpdate(object, old) {
    // only /finalize changes them
    object.spec = { ...record(object.spec), finalizers: record(old.spec).finalizers };
  },
  admitDelete(object) {
    if (!IMMORTAL.includes(object.metadata.name)) return;
    throw forbidden(
      { group: "", plural: "namespaces" },
      object.metadata.name,
      "this namespace may not be deleted",
    );
  },
});

export const node: Strategy = strategy({
  status: true,
  keepsNewStatus: true,
  defaults(object) {
    const status = childOf(object, "status");
    if (isRecord(status.capacity)) defaultKey(status, "allocatable", { ...status.capacity });
  },
  prepareCreate(object) {
    const spec = childOf(object, "spec");
    const taint = "node.kubernetes.io/not-ready";
    if (records(spec.taints).some((entry) => entry.key === taint)) return;
    spec.taints = [...records(spec.taints), { key: taint, effect: "NoSchedule" }];
  },
});

function atLeastOne(value: unknown, field: string): Cause[] {
  if (typeof value !== "number" || value > 0) return [];
  return [invalidValue(field, value, "must be greater than 0")];
}

export const lease: Strategy = strategy({
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate(object) {
    const spec = record(object.spec);
    const found = atLeastOne(spec.leaseDurationSeconds, "spec.leaseDurationSeconds");
    if (typeof spec.leaseTransitions === "number" && spec.leaseTransitions < 0) {
      found.push(
        invalidValue("spec.leaseTransitions", spec.leaseTransitions, "must be greater than or equal to 0"),
      );
    }
    return found;
  },
});

/** Bytes of `note`. */
const MAX_NOTE = 1024;
const MAX_EVENT_TEXT = 128;
const EVENT_TYPES = ["Normal", "Warning"];

function checkNewEvent(object: KubeObject): Cause[] {
  const found: Cause[] = [];
  for (const field of ["reportingController", "reportingInstance", "action", "reason"]) {
    const value = text(object[field]);
    if (value === "") found.push(required(field));
    else if (value.length > MAX_EVENT_TEXT) {
      found.push(invalidValue(field, "", "can have at most 128 characters"));
    }
  }
  if (!EVENT_TYPES.includes(text(object.type))) {
    found.push(invalidValue("type", "", `has invalid value: ${text(object.type)}`));
  }
  const regarding = text(record(object.regarding).namespace);
  const wanted = regarding === "" ? "default" : regarding;
  if (object.metadata.namespace !== wanted) {
    found.push(invalidValue("involvedObject.namespace", regarding, "does not match event.namespace"));
  }
  if (Buffer.byteLength(text(object.note)) > MAX_NOTE) {
    found.push(invalidValue("message", "", "can have at most 1024 characters"));
  }
  return found;
}

/** Events of both groups; stored in the form of events.k8s.io. */
export function eventStrategy(group: string): Strategy {
  return strategy({
    createOnUpdate: true,
    ...(group === "" ? {} : { generation: "none" as const }),
    validate(object) {
      if (group === "") {
        const regarding = record(object.involvedObject);
        const wanted = text(regarding.namespace) === "" ? "default" : regarding.namespace;
        if (object.metadata.namespace === wanted) return [];
        return [
          invalidValue(
            "involvedObject.namespace",
            text(regarding.namespace),
            "does not match event.namespace",
          ),
        ];
      }
      if (object.eventTime === undefined || object.eventTime === null) return [required("eventTime")];
      return checkNewEvent(object);
    },
  });
}

function defaultApiGroup(subject: Record<string, unknown>): void {
  if (text(subject.apiGroup) !== "") return;
  if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup = "rbac.authorization.k8s.io";
}

export const role: Strategy = strategy({
  name: "path",
  validate: (object) =>
    records(object.rules).flatMap((rule, index) => {
      const found: Cause[] = [];
      const at = `rules[${index}]`;
      if (items(rule.verbs).length === 0)
        found.push(required(`${at}.verbs`, "verbs must contain at least one value"));
      if (items(rule.nonResourceURLs).length > 0) return found;
      if (items(rule.apiGroups).length === 0) {
        found.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
      }
      if (items(rule.resources).length === 0) {
        found.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
      }
      return found;
    }),
});

export const roleBinding: Strategy = strategy({
  name: "path",
  defaults(object) {
    defaultText(childOf(object, "roleRef"), "apiGroup", "rbac.authorization.k8s.io");
    for (const subject of records(object.subjects)) defaultApiGroup(subject);
  },
  validateUpdate: (object, old) =>
    JSON.stringify(object.roleRef) === JSON.stringify(old.roleRef)
      ? []
      : [invalidValue("roleRef", object.roleRef, "cannot change roleRef")],
});

export const priorityClass: Strategy = strategy({
  generation: "body",
  defaults: (object) => defaultText(object, "preemptionPolicy", "PreemptLowerPriority"),
});

/** Seconds that a webhook gets to answer. */
const WEBHOOK_TIMEOUT = 10;

function defaultWebhooks(object: KubeObject, mutating: boolean): void {
  for (const hook of records(object.webhooks)) {
    defaultText(hook, "failurePolicy", "Fail");
    defaultText(hook, "matchPolicy", "Equivalent");
    defaultKey(hook, "namespaceSelector", {});
    defaultKey(hook, "objectSelector", {});
    defaultKey(hook, "timeoutSeconds", WEBHOOK_TIMEOUT);
    if (mutating) defaultText(hook, "reinvocationPolicy", "Never");
    for (const rule of records(hook.rules)) defaultText(rule, "scope", "*");
    const target = record(record(hook.clientConfig).service);
    if (Object.keys(target).length > 0) defaultKey(target, "port", 443);
  }
}

function checkWebhooks(object: KubeObject): Cause[] {
  const names = new Set<string>();
  return records(object.webhooks).flatMap((hook, index) => {
    const at = `webhooks[${index}]`;
    const found: Cause[] = [];
    const name = text(hook.name);
    if (name.split(".").length < 3) {
      found.push(
        invalidValue(`${at}.name`, name, "should be a domain with at least three segments separated by dots"),
      );
    }
    if (names.has(name))
      found.push({
        reason: "FieldValueDuplicate",
        message: `Duplicate value: "${name}"`,
        field: `${at}.name`,
      });
    names.add(name);
    if (items(hook.admissionReviewVersions).length === 0) {
      found.push(required(`${at}.admissionReviewVersions`, "must specify one of v1, v1beta1"));
    }
    if (hook.sideEffects !== "None" && hook.sideEffects !== "NoneOnDryRun") {
      const message = `Unsupported value: ${JSON.stringify(hook.sideEffects ?? null)}: supported values: "None", "NoneOnDryRun"`;
      found.push({ reason: "FieldValueNotSupported", message, field: `${at}.sideEffects` });
    }
    const seconds = Number(hook.timeoutSeconds);
    if (!(seconds >= 1 && seconds <= 30)) {
      found.push(
        invalidValue(`${at}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"),
      );
    }
    const { url, service } = record(hook.clientConfig);
    if ((url === undefined) === (service === undefined)) {
      found.push(required(`${at}.clientConfig`, "exactly one of url or service is required"));
    }
    return found;
  });
}

export function webhookConfiguration(mutating: boolean): Strategy {
  return strategy({
    generation: "body",
    defaults: (object) => defaultWebhooks(object, mutating),
    validate: checkWebhooks,
  });
}

export const horizontalPodAutoscaler: Strategy = strategy({
  status: true,
  name: "path",
  defaults: (object) => defaultKey(childOf(object, "spec"), "minReplicas", 1),
});
