/** The course of a create: decode, admit, prepare, check, store. */
import { randomUUID } from "node:crypto";
import { blank, trackUpdate } from "../apply/managed.ts";
import { parseObject, reportFields } from "../body.ts";
import type { Call } from "../call.ts";
import { timestamp } from "../clock.ts";
import { decodeObject } from "../decode.ts";
import { text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import { alreadyExists, badRequest, type Cause, Failure, forbidden, notFound } from "../status.ts";
import { checkMetadata } from "./metadata.ts";
import { presentOne, refuseInvalid, refuseLarge, toStorage } from "./stored.ts";

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
