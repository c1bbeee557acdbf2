/** The course of an update: build, admit, prepare, check, store; again when another write came between. */
import { refuseResize } from "../admission/claim-resize.ts";
import { trackUpdate } from "../apply/managed.ts";
import { parseObject, reportFields } from "../body.ts";
import type { Call } from "../call.ts";
import { decodeObject } from "../decode.ts";
import { cloneJson, sameJson, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import { badRequest, type Cause, conflict, invalid, MODIFIED, notFound } from "../status.ts";
import { createDecoded } from "./create.ts";
import { bodyChanged, checkMetadata, checkMetadataUpdate, keepSystemFields } from "./metadata.ts";
import { presentOne, refuseInvalid, refuseLarge, toStorage } from "./stored.ts";

/** A write that lost a race against another is tried again this often when the client gave no resource version. */
const MAX_RACES = 5;
export interface UpdatePlan {
  /** The wanted object; gets the stored one in the form of the type. Not shared with the store. */
  build(old: KubeObject): KubeObject | Promise<KubeObject>;
  /** Managed fields are computed by the caller (server-side apply). */
  tracked?: boolean;
}

export interface Updated {
  object: KubeObject;
  created: boolean;
}

/** `/status` changes the status only, everything else leaves it alone. */
function restrict(call: Call, object: KubeObject, old: KubeObject): void {
  const { type, subresource } = call;
  const keep = (key: string): void => {
    if (old[key] === undefined) delete object[key];
    else object[key] = old[key];
  };
  if (subresource !== "status") {
    if (type.strategy.status) keep("status");
    return;
  }
  if (type.custom !== undefined) {
    const { managedFields, resourceVersion } = object.metadata;
    object.metadata = { ...cloneJson(old.metadata) };
    if (managedFields !== undefined) object.metadata.managedFields = managedFields;
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  }
  for (const key of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (key !== "status" && key !== "metadata") keep(key);
  }
}

function checkVersion(call: Call, object: KubeObject, old: KubeObject): void {
  const wanted = text(object.metadata.resourceVersion);
  const name = old.metadata.name;
  if (wanted === "" || wanted === "0") {
    if (call.verb !== "update" || call.type.strategy.unconditionalUpdate) return;
    const field = "metadata.resourceVersion";
    throw invalid(call.type, name, [
      { reason: "FieldValueInvalid", message: "Invalid value: 0: must be specified for an update", field },
    ]);
  }
  if (wanted !== old.metadata.resourceVersion) throw conflict(call.type, name, MODIFIED);
}

function checkIdentity(call: Call, object: KubeObject, old: KubeObject): void {
  const { metadata } = object;
  if (text(metadata.name) !== "" && metadata.name !== old.metadata.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${old.metadata.name})`,
    );
  }
  if (text(metadata.namespace) !== "" && metadata.namespace !== old.metadata.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (text(metadata.uid) !== "" && metadata.uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict(call.type, old.metadata.name, why);
  }
  metadata.name = old.metadata.name;
}

function validateChange(type: ResourceType, object: KubeObject, old: KubeObject): Cause[] {
  const common = [...checkMetadata(type, object), ...checkMetadataUpdate(object, old)];
  if (type.custom !== undefined) return [...common, ...type.custom.validate(object, old)];
  return [
    ...common,
    ...(type.strategy.validateUpdate?.(object, old) ?? []),
    ...(type.strategy.validate?.(object) ?? []),
  ];
}

/** Whether an object that is being deleted has nothing left to wait for. */
function isFinished(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    (finalizers ?? []).length === 0 &&
    (deletionGracePeriodSeconds ?? 0) === 0
  );
}

async function prepareChange(
  server: Server,
  call: Call,
  plan: UpdatePlan,
  old: KubeObject,
): Promise<KubeObject> {
  const { type } = call;
  let object = await plan.build(old);
  checkIdentity(call, object, old);
  checkVersion(call, object, old);
  const finish = (candidate: KubeObject): void => {
    restrict(call, candidate, old);
    keepSystemFields(candidate, old);
    candidate.metadata.resourceVersion = old.metadata.resourceVersion!;
    if (call.subresource !== "status")
      type.strategy.prepareUpdate?.(candidate, old, server.context(call.user));
  };
  finish(object);
  const admitted = await server.admission.mutate(call, object, old);
  if (admitted !== object) {
    object = admitted;
    finish(object);
  }
  if (plan.tracked !== true) trackUpdate(server, call, object, old);
  if (
    type.strategy.generation !== "none" &&
    call.subresource !== "status" &&
    bodyChanged(type, object, old)
  ) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  refuseResize(server, call, object, old);
  refuseInvalid(type, object, validateChange(type, object, old));
  await server.admission.validate(call, object, old);
  return object;
}

/** Changes a stored object; repeats when another write came between and the client gave no resource version. */
export async function update(server: Server, call: Call, plan: UpdatePlan): Promise<KubeObject> {
  const { type } = call;
  const key = keyOf(type.namespaced ? call.namespace : "", call.name);
  for (let race = 0; race < MAX_RACES; race += 1) {
    const current = server.store.get(type.collection, key);
    if (current === undefined) throw notFound(type, call.name);
    const old = await presentOne(type, current);
    const object = await prepareChange(server, call, plan, old);
    const stored = await toStorage(type, object);
    refuseLarge(stored);
    if (server.store.get(type.collection, key) !== current) continue;
    if (sameJson(stored, current)) return old;
    if (call.dryRun) return object;
    if (isFinished(stored)) return await presentOne(type, server.store.remove(type.collection, key, stored));
    return await presentOne(type, server.store.put(type.collection, key, stored));
  }
  throw conflict(type, call.name, MODIFIED);
}

/** PUT of an object or of a subresource with the object's own shape. */
export async function replace(server: Server, call: Call): Promise<Updated> {
  const { value, duplicates } = parseObject(call);
  const { object, unknown } = decodeObject(server, call.type, value);
  reportFields(call, unknown, duplicates);
  const key = keyOf(call.type.namespaced ? call.namespace : "", call.name);
  const missing = server.store.get(call.type.collection, key) === undefined;
  if (missing && call.type.strategy.createOnUpdate === true && call.subresource === "") {
    delete object.metadata.resourceVersion;
    return { object: await createDecoded(server, call, object), created: true };
  }
  const build = (): KubeObject => cloneJson(object);
  return { object: await update(server, call, { build }), created: false };
}
