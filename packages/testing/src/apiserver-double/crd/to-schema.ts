/** The schema of a custom resource in the form that server-side apply works with. */
import { isRecord, items, record, text } from "../json.ts";
import type { Schema, SchemaType } from "../schemas/schema.ts";
import { type JsonSchema, preserves } from "./structural.ts";

const SCALARS: Record<string, SchemaType> = {
  string: "string",
  integer: "integer",
  number: "number",
  boolean: "boolean",
};

function convert(schema: JsonSchema): Schema {
  const type = text(schema.type);
  if (type === "array") {
    const list = schema["x-kubernetes-list-type"];
    const keys = items(schema["x-kubernetes-list-map-keys"]).map(text);
    return {
      type: "array",
      items: isRecord(schema.items) ? convert(schema.items) : { type: "any" },
      list: list === "set" || list === "map" ? list : "atomic",
      ...(keys.length === 0 ? {} : { keys }),
    };
  }
  if (type !== "object") return { type: SCALARS[type] ?? "any", ...defaultOf(schema) };
  const map = schema["x-kubernetes-map-type"] === "atomic" ? { map: "atomic" as const } : {};
  if (isRecord(schema.additionalProperties)) {
    return { type: "map", values: convert(schema.additionalProperties), ...map };
  }
  const properties: Record<string, Schema> = {};
  for (const [key, property] of Object.entries(record(schema.properties)))
    properties[key] = convert(record(property));
  return { type: "object", properties, ...(preserves(schema) ? { open: true } : {}), ...map };
}

function defaultOf(schema: JsonSchema): { default?: unknown } {
  return schema.default === undefined ? {} : { default: schema.default };
}

export function toSchema(schema: JsonSchema, metadata: Schema): Schema {
  const converted = convert({ type: "object", ...schema });
  const scalar: Schema = { type: "string" };
  return {
    ...converted,
    properties: { apiVersion: scalar, kind: scalar, ...converted.properties, metadata },
  };
}
