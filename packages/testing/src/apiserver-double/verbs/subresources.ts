/** Subresources with a shape of their own: scale, binding, eviction, finalize, token. */
import { parseObject } from "../body.ts";
import type { Answer, Call } from "../call.ts";
import { timestamp } from "../clock.ts";
import { decodeObject } from "../decode.ts";
import { at, cloneJson, isRecord, items, type JsonObject, record, setAt, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import {
  badRequest,
  conflict,
  Failure,
  invalid,
  invalidValue,
  methodNotAllowed,
  notFound,
} from "../status.ts";
import { bindPod } from "../strategies/pods.ts";
import { selectorMatches } from "../strategies/validation.ts";
import { carryOut, planDelete } from "./delete.ts";
import { patcherOf } from "./patch.ts";
import { presentOne } from "./stored.ts";
import { update } from "./update.ts";

interface ScalePaths {
  specPath: string[];
  statusPath: string[];
  selectorPath?: string[];
}

function scalePaths(type: ResourceType): ScalePaths {
  return type.custom?.scale ?? { specPath: ["spec", "replicas"], statusPath: ["status", "replicas"] };
}

/** A label selector as text, the way `status.selector` of a Scale has it. */
function selectorText(selector: unknown): string {
  const labels = Object.entries(record(record(selector).matchLabels)).map(
    ([key, value]) => `${key}=${value}`,
  );
  const sets = items(record(selector).matchExpressions).map((entry) => {
    const { key, operator, values } = record(entry);
    if (operator === "Exists") return String(key);
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${items(values).join(",")})`;
  });
  return [...labels.sort(), ...sets].join(",");
}

function scaleOf(type: ResourceType, object: KubeObject): JsonObject {
  const paths = scalePaths(type);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector =
    type.custom === undefined
      ? selectorText(record(object.spec).selector)
      : paths.selectorPath === undefined
        ? ""
        : text(at(object, ...paths.selectorPath));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: Number(at(object, ...paths.specPath) ?? 0) },
    status: {
      replicas: Number(at(object, ...paths.statusPath) ?? 0),
      ...(selector === "" ? {} : { selector }),
    },
  };
}

async function stored(server: Server, call: Call): Promise<KubeObject> {
  const found = server.store.get(
    call.type.collection,
    keyOf(call.type.namespaced ? call.namespace : "", call.name),
  );
  if (found === undefined) throw notFound(call.type, call.name);
  return found;
}

/** GET, PUT and PATCH of `/scale`. */
export async function scale(server: Server, call: Call): Promise<Answer> {
  const current = await presentOne(call.type, await stored(server, call));
  if (call.method === "GET") return { code: 200, body: scaleOf(call.type, current) };
  if (call.method !== "PUT" && call.method !== "PATCH") throw methodNotAllowed();
  const build = (old: KubeObject): KubeObject => {
    const shown = scaleOf(call.type, old);
    const wanted =
      call.method === "PUT" ? parseObject(call).value : record(patcherOf(call)(cloneJson(shown)));
    const replicas = Number(record(wanted.spec).replicas ?? 0);
    if (!Number.isInteger(replicas) || replicas < 0) {
      const cause = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
      throw invalid({ group: "autoscaling", kind: "Scale" }, call.name, [cause]);
    }
    const next = cloneJson(old);
    setAt(next, scalePaths(call.type).specPath, replicas);
    const version = text(record(wanted.metadata).resourceVersion);
    if (version === "") delete next.metadata.resourceVersion;
    else next.metadata.resourceVersion = version;
    return next;
  };
  return {
    code: 200,
    body: scaleOf(call.type, await update(server, { ...call, subresource: "" }, { build })),
  };
}

/** POST of `pods/NAME/binding`: what a scheduler does. */
export async function bind(server: Server, call: Call): Promise<Answer> {
  const { value } = parseObject(call);
  const node = text(record(value.target).name);
  const pod = await stored(server, call);
  const bound = bindPod(pod, node, timestamp(server.clock.now()));
  if (bound === undefined) {
    throw conflict(
      call.type,
      call.name,
      `pod ${call.name} is already assigned to node "${record(pod.spec).nodeName}"`,
    );
  }
  bound.metadata.annotations = {
    ...bound.metadata.annotations,
    ...(record(record(value.metadata).annotations) as Record<string, string>),
  };
  if (Object.keys(bound.metadata.annotations).length === 0) delete bound.metadata.annotations;
  if (!call.dryRun) server.store.put(call.type.collection, keyOf(call.namespace, call.name), bound);
  return {
    code: 201,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
  };
}

/** The disruption budget that forbids an eviction, if any. */
function blockingBudget(server: Server, pod: KubeObject): KubeObject | undefined {
  return server.store.list("poddisruptionbudgets.policy", pod.metadata.namespace).find((budget) => {
    if (!selectorMatches(record(budget.spec).selector, pod.metadata.labels ?? {})) return false;
    return Number(record(budget.status).disruptionsAllowed ?? 0) <= 0;
  });
}

/** POST of `pods/NAME/eviction`. */
export async function evict(server: Server, call: Call): Promise<Answer> {
  const { value } = parseObject(call);
  const pod = await stored(server, call);
  const budget = blockingBudget(server, pod);
  if (budget !== undefined) {
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    throw new Failure(429, "TooManyRequests", message, {
      causes: [
        {
          reason: "DisruptionBudget",
          message: `The disruption budget ${budget.metadata.name} needs ${record(budget.status).desiredHealthy ?? 0} healthy pods and has ${record(budget.status).currentHealthy ?? 0} currently`,
        },
      ],
    });
  }
  const { gracePeriodSeconds, preconditions } = record(value.deleteOptions);
  const plan = planDelete(server, call.type, pod, {
    graceSeconds: typeof gracePeriodSeconds === "number" ? gracePeriodSeconds : undefined,
    uid: text(record(preconditions).uid) || undefined,
  });
  if (!call.dryRun) carryOut(server, call.type, pod, plan);
  return {
    code: 201,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
  };
}

/** PUT of `namespaces/NAME/finalize`. */
export async function finalizeNamespace(server: Server, call: Call): Promise<Answer> {
  if (call.method !== "PUT") throw methodNotAllowed();
  const { object } = decodeObject(server, call.type, parseObject(call).value);
  const current = await stored(server, call);
  const finalizers = items(record(object.spec).finalizers);
  const next: KubeObject = { ...cloneJson(current), spec: { ...record(current.spec), finalizers } };
  if (finalizers.length === 0) delete (next.spec as JsonObject).finalizers;
  const key = keyOf("", call.name);
  const done = current.metadata.deletionTimestamp !== undefined && finalizers.length === 0;
  const free = (current.metadata.finalizers ?? []).length === 0;
  const result =
    done && free ? server.store.remove("namespaces", key, next) : server.store.put("namespaces", key, next);
  return { code: 200, body: result };
}

/** POST of `serviceaccounts/NAME/token`; `issue` makes a bearer token for the account. */
export async function requestToken(
  server: Server,
  call: Call,
  issue: (namespace: string, name: string) => string,
): Promise<Answer> {
  await stored(server, call);
  const { value } = parseObject(call);
  if (!isRecord(value)) throw badRequest("TokenRequest expected");
  const seconds = Number(record(value.spec).expirationSeconds ?? 3600);
  return {
    code: 201,
    body: {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {
        name: call.name,
        namespace: call.namespace,
        creationTimestamp: timestamp(server.clock.now()),
      },
      spec: { audiences: items(record(value.spec).audiences), expirationSeconds: seconds },
      status: {
        token: issue(call.namespace, call.name),
        expirationTimestamp: timestamp(server.clock.now() + seconds * 1000),
      },
    },
  };
}
