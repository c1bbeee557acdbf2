/** Managed fields: who set what. */
import type { Call } from "../call.ts";
import { timestamp } from "../clock.ts";
import { type JsonObject, text } from "../json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../object.ts";
import { apiVersionOf, type ResourceType } from "../registry.ts";
import { decodeTyped } from "../schemas/decode.ts";
import type { Server } from "../server.ts";
import {
  difference,
  emptySet,
  type FieldSet,
  fromFieldsV1,
  isEmpty,
  toFieldsV1,
  union,
  without,
} from "./field-set.ts";
import { compare } from "./typed.ts";

/** One manager's fields. */
export interface Manager {
  name: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource: string;
  time: string;
  fields: FieldSet;
}

/** Longest name of a manager. */
const MAX_MANAGER = 128;

/** Fields that nobody owns. */
const UNOWNED: readonly (readonly string[])[] = [
  ["f:apiVersion"],
  ["f:kind"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((key) => ["f:metadata", `f:${key}`]),
];

/** Fields that a request at this place cannot set. */
function resetFields(type: ResourceType, subresource: string): readonly (readonly string[])[] {
  if (subresource === "status")
    return type.custom === undefined ? [["f:spec"]] : [["f:spec"], ["f:metadata"]];
  return type.strategy.status ? [["f:status"]] : [];
}

export function ownable(type: ResourceType, subresource: string, fields: FieldSet): FieldSet {
  const rest = without(fields, [...UNOWNED, ...resetFields(type, subresource)]);
  const metadata = rest.get("f:metadata");
  if (metadata !== undefined) {
    metadata.self = false;
    if (metadata.below.size === 0) rest.delete("f:metadata");
  }
  return rest;
}

/** The manager of a request: its `fieldManager`, else the first part of the user agent. */
export function managerName(call: Call): string {
  const given = call.query.get("fieldManager") ?? "";
  if (given !== "") return given;
  const agent = (call.headers["user-agent"] ?? "").split("/")[0]!;
  const printable = agent.replaceAll(/[^\x20-\x7e]/g, "");
  return printable === "" ? "unknown" : printable.slice(0, MAX_MANAGER);
}

export function readManagers(object: KubeObject | undefined): Manager[] {
  return (object?.metadata.managedFields ?? []).map((entry) => ({
    name: entry.manager,
    operation: entry.operation === "Apply" ? "Apply" : "Update",
    apiVersion: entry.apiVersion,
    subresource: text(entry.subresource),
    time: entry.time,
    fields: fromFieldsV1(entry.fieldsV1),
  }));
}

function order(left: Manager, right: Manager): number {
  if (left.operation !== right.operation) return left.operation === "Apply" ? -1 : 1;
  for (const key of ["time", "name", "apiVersion", "subresource"] as const) {
    if (left[key] !== right[key]) return left[key] < right[key] ? -1 : 1;
  }
  return 0;
}

export function writeManagers(object: KubeObject, managers: readonly Manager[]): void {
  const entries = managers
    .filter((manager) => !isEmpty(manager.fields))
    .sort(order)
    .map(
      (manager): ManagedFieldsEntry => ({
        manager: manager.name,
        operation: manager.operation,
        apiVersion: manager.apiVersion,
        time: manager.time,
        fieldsType: "FieldsV1",
        fieldsV1: toFieldsV1(manager.fields),
        ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
      }),
    );
  if (entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries;
}

/** Whether a manager is the one that a request writes as. An applier is the same in every version. */
export function isSame(manager: Manager, name: string, operation: Manager["operation"], call: Call): boolean {
  return (
    manager.name === name &&
    manager.operation === operation &&
    manager.subresource === call.subresource &&
    (operation === "Apply" || manager.apiVersion === apiVersionOf(call.type))
  );
}

/** The value of an object without its managed fields. */
export function unmanaged(object: KubeObject): JsonObject {
  const { managedFields: _managed, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as JsonObject;
}

/** What an object of a type is before anything was set. */
export function blank(type: ResourceType): JsonObject {
  const base = { apiVersion: apiVersionOf(type), kind: type.kind };
  if (type.custom !== undefined) return { ...base, metadata: {} };
  return { ...decodeTyped(type.schema, {}).object, ...base };
}

/** A request to clear all managed fields: one empty entry. */
function clears(object: KubeObject): boolean {
  const entries = object.metadata.managedFields;
  return (
    entries?.length === 1 &&
    Object.keys(entries[0]!.fieldsV1 ?? {}).length === 0 &&
    text(entries[0]!.manager) === ""
  );
}

/** Notes the caller as the manager of what an update changed. */
export function trackUpdate(
  server: Server,
  call: Call,
  object: KubeObject,
  old: KubeObject | undefined,
): void {
  const { type } = call;
  if (clears(object)) {
    delete object.metadata.managedFields;
    return;
  }
  const managers = readManagers(old);
  const before = old === undefined ? blank(type) : unmanaged(old);
  const { added, modified, removed } = compare(type.schema, before, unmanaged(object));
  const changed = ownable(type, call.subresource, union(added, modified));
  const name = managerName(call);
  const own = managers.find((manager) => isSame(manager, name, "Update", call));
  const others = managers.filter((manager) => manager !== own);
  for (const manager of others) {
    manager.fields = difference(difference(manager.fields, changed), removed);
  }
  const kept = difference(own?.fields ?? emptySet(), removed);
  const fields = union(kept, changed);
  const touched = own === undefined || !isEmpty(changed);
  others.push({
    name,
    operation: "Update",
    apiVersion: apiVersionOf(type),
    subresource: call.subresource,
    time: touched ? timestamp(server.clock.now()) : own.time,
    fields,
  });
  writeManagers(object, others);
}
