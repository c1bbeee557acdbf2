/** The course of a write: decode, admit, prepare, check, store. */
import { randomUUID } from "node:crypto";
import { blank, trackUpdate } from "../apply/managed.ts";
import { parseObject, reportFields } from "../body.ts";
import type { Call } from "../call.ts";
import { timestamp } from "../clock.ts";
import { decodeObject } from "../decode.ts";
import { cloneJson, type JsonObject, sameJson, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import {
  alreadyExists,
  badRequest,
  type Cause,
  conflict,
  Failure,
  forbidden,
  invalid,
  MODIFIED,
  notFound,
} from "../status.ts";
import { bodyChanged, checkMetadata, checkMetadataUpdate, keepSystemFields } from "./metadata.ts";

/** Largest object, in bytes of JSON; what etcd takes in one request. */
const MAX_OBJECT = 1_572_864;
/** A write that lost a race against another is tried again this often when the client gave no resource version. */
const MAX_RACES = 5;
/** Letters of generated names (the server leaves out vowels and digits that look like letters). */
const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const GENERATED_LENGTH = 5;
const MAX_GENERATED_BASE = 58;

function generateName(base: string): string {
  let suffix = "";
  for (let i = 0; i < GENERATED_LENGTH; i += 1) {
    suffix += NAME_LETTERS[Math.floor(Math.random() * NAME_LETTERS.length)];
  }
  return base.slice(0, MAX_GENERATED_BASE) + suffix;
}

function checkNamespace(server: Server, call: Call, object: KubeObject): void {
  const { metadata } = object;
  if (!call.type.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (text(metadata.namespace) !== "" && metadata.namespace !== call.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata.namespace = call.namespace;
  const namespace = server.store.get("namespaces", keyOf("", call.namespace));
  if (namespace === undefined) throw notFound({ group: "", plural: "namespaces" }, call.namespace);
}

function refuseTerminating(server: Server, call: Call, object: KubeObject): void {
  if (!call.type.namespaced) return;
  const namespace = server.store.get("namespaces", keyOf("", call.namespace));
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${call.namespace} because it is being terminated`;
  throw forbidden(call.type, object.metadata.name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${call.namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}

function refuseInvalid(type: ResourceType, object: KubeObject, causes: Cause[]): void {
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes);
}

function refuseLarge(object: KubeObject): void {
  const size = Buffer.byteLength(JSON.stringify(object));
  if (size > MAX_OBJECT) throw new Failure(500, "", "etcdserver: request is too large");
}

async function toStorage(type: ResourceType, object: KubeObject): Promise<KubeObject> {
  return type.toStorage === undefined ? object : await type.toStorage(object);
}

/** Stored objects in the form of a type. */
export async function present(
  type: ResourceType,
  stored: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  return type.fromStorage === undefined ? stored : await type.fromStorage(stored);
}

export async function presentOne(type: ResourceType, stored: KubeObject): Promise<KubeObject> {
  return (await present(type, [stored]))[0]!;
}

function validateNew(type: ResourceType, object: KubeObject): Cause[] {
  return [
    ...checkMetadata(type, object),
    ...(type.custom === undefined
      ? (type.strategy.validate?.(object) ?? [])
      : type.custom.validate(object, undefined)),
  ];
}

function stampNew(server: Server, type: ResourceType, object: KubeObject): void {
  const { metadata } = object;
  if (text(metadata.name) === "" && text(metadata.generateName) !== "") {
    metadata.name = generateName(metadata.generateName!);
  }
  metadata.uid = randomUUID();
  metadata.creationTimestamp = timestamp(server.clock.now());
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.resourceVersion;
  if (type.strategy.generation === "none") delete metadata.generation;
  else metadata.generation = 1;
}

/** A new object has the status that its kind begins with, whatever the client sent. */
function resetStatus(type: ResourceType, object: KubeObject): void {
  if (type.strategy.keepsNewStatus === true) return;
  const { status } = type.custom === undefined ? blank(type) : {};
  if (status === undefined) delete object.status;
  else object.status = status;
}

/** Creates an already decoded object; `tracked` when its managed fields are computed already. */
export async function createDecoded(
  server: Server,
  call: Call,
  decoded: KubeObject,
  { tracked = false }: { tracked?: boolean } = {},
): Promise<KubeObject> {
  const { type } = call;
  let object = decoded;
  if (text(object.metadata.resourceVersion) !== "" && object.metadata.resourceVersion !== "0") {
    throw new Failure(500, "", "resourceVersion should not be set on objects to be created");
  }
  checkNamespace(server, call, object);
  refuseTerminating(server, call, object);
  if (call.name !== "" && text(object.metadata.name) === "") object.metadata.name = call.name;
  object = await server.admission.mutate(call, object, undefined);
  if (!tracked) trackUpdate(server, call, object, undefined);
  if (type.strategy.status) resetStatus(type, object);
  stampNew(server, type, object);
  type.strategy.prepareCreate?.(object, server.context(call.user));
  refuseInvalid(type, object, validateNew(type, object));
  await server.admission.validate(call, object, undefined);
  const key = keyOf(object.metadata.namespace, object.metadata.name);
  const stored = await toStorage(type, object);
  refuseLarge(stored);
  if (server.store.get(type.collection, key) !== undefined) throw alreadyExists(type, object.metadata.name);
  refuseTerminating(server, call, object);
  if (call.dryRun) return object;
  return await presentOne(type, server.store.put(type.collection, key, stored));
}

/** POST of a collection. */
export async function create(server: Server, call: Call): Promise<KubeObject> {
  const { value, duplicates } = parseObject(call);
  const { object, unknown } = decodeObject(server, call.type, value);
  reportFields(call, unknown, duplicates);
  call.named(text(object.metadata.name));
  if (call.type.custom?.deprecation !== undefined) call.warnings.push(call.type.custom.deprecation);
  return await createDecoded(server, call, object);
}

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

/** The JSON value of an object that a patch works on. */
export function patchable(object: KubeObject): JsonObject {
  return cloneJson(object) as unknown as JsonObject;
}
