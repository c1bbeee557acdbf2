/** Server-side apply. */
import { parseText, reportFields } from "../body.ts";
import type { Call } from "../call.ts";
import { timestamp } from "../clock.ts";
import { decodeObject } from "../decode.ts";
import { cloneJson, isRecord, type JsonObject, record, sameJson, text } from "../json.ts";
import { type KubeObject, keyOf } from "../object.ts";
import { apiVersionOf } from "../registry.ts";
import type { Schema } from "../schemas/schema.ts";
import type { Server } from "../server.ts";
import { badRequest, type Cause, conflict, Failure, forbiddenField, invalid, required } from "../status.ts";
import { createDecoded } from "../verbs/create.ts";
import { type Updated, update } from "../verbs/update.ts";
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmpty,
  pathsOf,
  sameSet,
  showPath,
  union,
} from "./field-set.ts";
import {
  isSame,
  type Manager,
  managerName,
  ownable,
  readManagers,
  unmanaged,
  writeManagers,
} from "./managed.ts";
import { mergeApplied, removeFields } from "./merge.ts";
import { compare, fieldsOf } from "./typed.ts";

function readOptions(call: Call): { manager: string; force: boolean } {
  const manager = call.query.get("fieldManager") ?? "";
  if (manager === "") {
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
      required("fieldManager", "is required for apply patch"),
    ]);
  }
  return { manager, force: call.query.get("force") === "true" };
}

/** Fields of the configuration that the schema does not know. */
function undeclared(schema: Schema, value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return undefined;
    for (const item of value) {
      const found = undeclared(schema.items, item, `${path}[]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isRecord(value) || schema.type === "any") return undefined;
  for (const [key, item] of Object.entries(value)) {
    const below = schema.type === "map" ? schema.values : schema.properties?.[key];
    if (below === undefined) {
      if (schema.open) continue;
      return `${path}.${key}`;
    }
    const found = undeclared(below, item, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readConfiguration(call: Call): JsonObject {
  const { type } = call;
  const value = parseText(call.body, true);
  if (!isRecord(value)) throw badRequest("error decoding YAML: the configuration is no object");
  const wanted = apiVersionOf(type);
  if (text(value.apiVersion) !== wanted || text(value.kind) !== type.kind) {
    throw badRequest(
      `invalid object type: ${text(value.apiVersion)}, Kind=${text(value.kind)}; expected ${wanted}, Kind=${type.kind}`,
    );
  }
  const metadata = record(value.metadata);
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest("metadata.managedFields must be nil");
  }
  if (text(metadata.name) !== "" && metadata.name !== call.name) {
    throw badRequest(
      `the name of the object (${text(metadata.name)}) does not match the name on the URL (${call.name})`,
    );
  }
  const unknown = undeclared(type.schema, value, "");
  if (unknown !== undefined) {
    const object = `${call.namespace}/${call.name}; ${wanted}, Kind=${type.kind}`;
    const message = `failed to create typed patch object (${object}): ${unknown}: field not declared in schema`;
    throw new Failure(500, "", message);
  }
  return value;
}

function conflictWith(manager: Manager): string {
  const subresource =
    manager.subresource === "" ? "" : ` with subresource ${JSON.stringify(manager.subresource)}`;
  const since = manager.operation === "Apply" ? "" : ` using ${manager.apiVersion}`;
  const at = manager.operation === "Apply" || manager.time === "" ? "" : ` at ${manager.time}`;
  return `conflict with ${JSON.stringify(manager.name)}${subresource}${since}${at}`;
}

function conflictFailure(conflicts: readonly { manager: Manager; fields: FieldSet }[]): Failure {
  const causes: Cause[] = conflicts.flatMap(({ manager, fields }) =>
    pathsOf(fields).map((path) => ({
      reason: "FieldManagerConflict",
      message: conflictWith(manager),
      field: showPath(path),
    })),
  );
  const total = causes.length === 1 ? "1 conflict" : `${causes.length} conflicts`;
  const lines =
    causes.length === 1 ? `: ${causes[0]!.message}: ${causes[0]!.field}` : `: ${groupLines(causes)}`;
  return new Failure(409, "Conflict", `Apply failed with ${total}${lines}`, { causes });
}

function groupLines(causes: readonly Cause[]): string {
  const messages = [...new Set(causes.map(({ message }) => message))];
  return messages
    .map((message) => {
      const fields = causes.filter((cause) => cause.message === message).map(({ field }) => `- ${field}`);
      return `${message}:\n${fields.join("\n")}`;
    })
    .join("\n");
}

/** Paths that the manager applied before and nobody owns any more. */
function abandoned(last: FieldSet, owned: FieldSet): FieldSet {
  const result = emptySet();
  for (const [key, node] of last) {
    const other = owned.get(key);
    const held = other !== undefined && (other.self || !isEmpty(other.below));
    const self = node.self && !held;
    const below = self ? emptySet() : abandoned(node.below, other?.below ?? emptySet());
    if (self || below.size > 0) result.set(key, { self, below });
  }
  return result;
}

interface Application {
  call: Call;
  configuration: JsonObject;
  force: boolean;
  name: string;
  now: string;
}

function applyTo(
  application: Application,
  live: JsonObject,
  managers: Manager[],
): { merged: JsonObject; managers: Manager[] } {
  const { call, configuration, force, name, now } = application;
  const { type, subresource } = call;
  const own = managers.find((manager) => isSame(manager, name, "Apply", call));
  const others = managers.filter((manager) => manager !== own);
  const fields = ownable(type, subresource, fieldsOf(type.schema, configuration));
  let merged = mergeApplied(type.schema, live, configuration);
  if (own !== undefined) {
    const owned = others.reduce((sum, manager) => union(sum, manager.fields), fields);
    merged = removeFields(type.schema, merged, abandoned(own.fields, owned)) as JsonObject;
  }
  const { added, modified, removed } = compare(type.schema, live, merged);
  const changed = ownable(type, subresource, union(added, modified));
  const conflicts = others
    .map((manager) => ({ manager, fields: intersection(manager.fields, changed) }))
    .filter((entry) => !isEmpty(entry.fields));
  if (conflicts.length > 0 && !force) throw conflictFailure(conflicts);
  for (const { manager, fields: lost } of conflicts) manager.fields = difference(manager.fields, lost);
  for (const manager of others) manager.fields = difference(manager.fields, removed);
  const unchanged = own !== undefined && sameSet(own.fields, fields) && sameJson(live, merged);
  const entry: Manager = {
    name,
    operation: "Apply",
    apiVersion: apiVersionOf(type),
    subresource,
    time: unchanged ? own.time : now,
    fields,
  };
  return { merged, managers: [...others, entry] };
}

/** PATCH with a configuration: creates or changes the object. */
export async function applyPatch(server: Server, call: Call): Promise<Updated> {
  const { manager: name, force } = readOptions(call);
  const configuration = readConfiguration(call);
  const application: Application = {
    call,
    configuration,
    force,
    name: name || managerName(call),
    now: timestamp(server.clock.now()),
  };
  const decode = (value: JsonObject, managers: Manager[]): KubeObject => {
    const { object, unknown } = decodeObject(server, call.type, value);
    reportFields(call, unknown, []);
    writeManagers(object, managers);
    return object;
  };
  const key = keyOf(call.type.namespaced ? call.namespace : "", call.name);
  if (server.store.get(call.type.collection, key) === undefined && call.subresource === "") {
    const { uid, resourceVersion } = record(configuration.metadata);
    if (text(uid) !== "" || text(resourceVersion) !== "") {
      const why = `uid mismatch: the provided object specified uid ${text(uid)}, and no existing object was found`;
      throw conflict(call.type, call.name, why);
    }
    const { merged, managers } = applyTo(application, {}, []);
    const object = await createDecoded(server, call, decode(merged, managers), { tracked: true });
    return { object, created: true };
  }
  const build = (old: KubeObject): KubeObject => {
    const wanted = text(record(configuration.metadata).resourceVersion);
    const live = cloneJson(unmanaged(old));
    const { merged, managers } = applyTo(application, live, readManagers(old));
    const object = decode(merged, managers);
    if (wanted === "") delete object.metadata.resourceVersion;
    return object;
  };
  return { object: await update(server, call, { build, tracked: true }), created: false };
}

export function refuseForce(call: Call): void {
  if ((call.query.get("force") ?? "") === "") return;
  throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    forbiddenField("force", "may not be specified for non-apply patch"),
  ]);
}
