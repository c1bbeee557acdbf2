/** Deletion: preconditions, grace, finalizers, propagation. */
import { parseText } from "../body.ts";
import type { Answer, Call } from "../call.ts";
import { timestamp } from "../clock.ts";
import { isRecord, type JsonObject, record, sameJson, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import { badRequest, type Cause, conflict, invalid, notFound } from "../status.ts";
import { viewOf } from "../view.ts";
import { select } from "./list.ts";
import { present, presentOne } from "./stored.ts";

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface DeleteOptions {
  propagation?: Propagation | undefined;
  graceSeconds?: number | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
}

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";
const POLICIES = ["Background", "Foreground", "Orphan"];

function optionsBody(call: Call): JsonObject {
  if (call.body === "") return {};
  const value = parseText(call.body, (call.headers["content-type"] ?? "").includes("yaml"));
  if (!isRecord(value)) throw badRequest("couldn't get version/kind; json parse error");
  return value;
}

/** Options of a delete request: its body, or query parameters when there is none. */
export function readOptions(call: Call): { options: DeleteOptions; dryRun: boolean } {
  const body = optionsBody(call);
  const hasBody = Object.keys(body).length > 0;
  const propagation =
    text(body.propagationPolicy) || (hasBody ? "" : (call.query.get("propagationPolicy") ?? ""));
  const grace = body.gracePeriodSeconds ?? (hasBody ? undefined : call.query.get("gracePeriodSeconds"));
  const causes: Cause[] = [];
  if (propagation !== "" && !POLICIES.includes(propagation)) {
    const message = `Unsupported value: ${JSON.stringify(propagation)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
    causes.push({ reason: "FieldValueNotSupported", message, field: "propagationPolicy" });
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", causes);
  const { uid, resourceVersion } = record(body.preconditions);
  const orphan = body.orphanDependents === true ? "Orphan" : undefined;
  return {
    options: {
      propagation: (propagation === "" ? orphan : propagation) as Propagation | undefined,
      graceSeconds: grace === undefined || grace === null ? undefined : Number(grace),
      uid: typeof uid === "string" ? uid : undefined,
      resourceVersion: typeof resourceVersion === "string" ? resourceVersion : undefined,
    },
    dryRun: call.dryRun || (Array.isArray(body.dryRun) && body.dryRun.includes("All")),
  };
}

function checkPreconditions(type: ResourceType, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion, name } = object.metadata;
  // these conflicts name the kind, not the resource
  const named = { group: type.group, plural: type.kind };
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(named, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(named, name, why);
  }
}

/** Finalizers after the propagation policy had its say. */
function finalizersFor(
  type: ResourceType,
  object: KubeObject,
  propagation: Propagation | undefined,
): string[] {
  const own = object.metadata.finalizers ?? [];
  const wanted = propagation ?? (type.kind === "Job" && type.group === "batch" ? "Orphan" : undefined);
  if (wanted === undefined) return own;
  const others = own.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  if (wanted === "Background") return others;
  return [...others, wanted === "Orphan" ? ORPHAN : FOREGROUND];
}

function graceOf(type: ResourceType, object: KubeObject, options: DeleteOptions): number {
  const own = type.strategy.graceSeconds?.(object) ?? 0;
  if (own === 0) return 0;
  const wanted = options.graceSeconds ?? own;
  const running =
    object.metadata.deletionTimestamp === undefined ? undefined : object.metadata.deletionGracePeriodSeconds;
  // a second delete may shorten the grace, never lengthen it
  return running === undefined ? wanted : Math.min(wanted, running);
}

export interface Deletion {
  object: KubeObject;
  /** The object is removed at once; else it stays and is marked. */
  gone: boolean;
}

/** What a delete makes of an object, without storing it. */
export function planDelete(
  server: Server,
  type: ResourceType,
  object: KubeObject,
  options: DeleteOptions,
): Deletion {
  checkPreconditions(type, object, options);
  const finalizers = finalizersFor(type, object, options.propagation);
  const grace = graceOf(type, object, options);
  const holdsContent = type.collection === "namespaces";
  if (finalizers.length === 0 && grace === 0 && !holdsContent) return { object, gone: true };
  const { finalizers: _old, ...metadata } = object.metadata;
  const marked: KubeObject = {
    ...object,
    metadata: { ...metadata, ...(finalizers.length === 0 ? {} : { finalizers }) },
  };
  const now = server.clock.now();
  if (metadata.deletionTimestamp === undefined) {
    marked.metadata.deletionTimestamp = timestamp(now + grace * 1000);
    marked.metadata.deletionGracePeriodSeconds = grace;
    if (metadata.generation !== undefined) marked.metadata.generation = metadata.generation + 1;
  } else if (grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    marked.metadata.deletionTimestamp = timestamp(now + grace * 1000);
    marked.metadata.deletionGracePeriodSeconds = grace;
  }
  if (holdsContent) marked.status = { ...record(object.status), phase: "Terminating" };
  return { object: marked, gone: false };
}

/** Carries a plan out. */
export function carryOut(server: Server, type: ResourceType, stored: KubeObject, plan: Deletion): KubeObject {
  const key = keyOf(stored.metadata.namespace, stored.metadata.name);
  if (plan.gone) return server.store.remove(type.collection, key, stored);
  const unchanged = sameJson(plan.object.metadata, stored.metadata);
  return unchanged ? stored : server.store.put(type.collection, key, plan.object);
}

function succeeded(type: ResourceType, object: KubeObject): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: object.metadata.name,
      ...(type.group === "" ? {} : { group: type.group }),
      kind: type.plural,
      uid: object.metadata.uid,
    },
  };
}

async function removeOne(
  server: Server,
  call: Call,
  name: string,
  options: DeleteOptions,
  dryRun: boolean,
): Promise<Deletion> {
  const { type } = call;
  const key = keyOf(type.namespaced ? call.namespace : "", name);
  for (;;) {
    const stored = server.store.get(type.collection, key);
    if (stored === undefined) throw notFound(type, name);
    type.strategy.admitDelete?.(stored);
    planDelete(server, type, stored, options);
    await server.admission.validate(call, undefined, await presentOne(type, stored));
    if (server.store.get(type.collection, key) !== stored) continue;
    const plan = planDelete(server, type, stored, options);
    return dryRun ? plan : { gone: plan.gone, object: carryOut(server, type, stored, plan) };
  }
}

/** DELETE of one object. */
export async function remove(server: Server, call: Call): Promise<Answer> {
  const { options, dryRun } = readOptions(call);
  const { object, gone } = await removeOne(server, call, call.name, options, dryRun);
  if (gone && call.type.strategy.returnsDeleted !== true) {
    return { code: 200, body: succeeded(call.type, object) };
  }
  return { code: 200, text: viewOf(server, call).one(await presentOne(call.type, object)) };
}

/** DELETE of a collection: every object that the selectors choose. */
export async function removeCollection(server: Server, call: Call): Promise<Answer> {
  const { options, dryRun } = readOptions(call);
  const { objects, metadata } = await select(server, call);
  const removed: KubeObject[] = [];
  for (const object of objects) {
    try {
      const one = { ...call, namespace: object.metadata.namespace ?? "" };
      removed.push((await removeOne(server, one, object.metadata.name, options, dryRun)).object);
    } catch (error) {
      // somebody else was faster: that is what was wanted
      if ((error as { code?: number }).code !== 404) throw error;
    }
  }
  return { code: 200, text: viewOf(server, call).list(await present(call.type, removed), metadata) };
}
