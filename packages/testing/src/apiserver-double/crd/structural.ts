/** Structural schemas of custom resources: pruning and defaulting. */
import { cloneJson, isRecord, type JsonObject, record, setKey } from "../json.ts";

/** `JSONSchemaProps` as written in the CRD. */
export type JsonSchema = JsonObject;

export function isNullable(schema: JsonSchema | undefined): boolean {
  return schema?.nullable === true;
}

export function preserves(schema: JsonSchema): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true;
}

/** Schema of a named field, `undefined` when the schema does not know it. */
export function propertyOf(schema: JsonSchema, key: string): JsonSchema | undefined {
  const properties = record(schema.properties);
  if (Object.hasOwn(properties, key)) return record(properties[key]);
  return isRecord(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

/** Fields that every object has, the schema does not have to name them. */
const OBJECT_FIELDS = ["apiVersion", "kind", "metadata"];

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/**
 * Drops the fields that a schema does not know and notes their paths.
 * `root` keeps the fields that every object has.
 */
export function prune(
  value: unknown,
  schema: JsonSchema | undefined,
  path: string,
  unknown: string[],
  root = false,
): void {
  if (Array.isArray(value)) {
    const element = schema === undefined ? undefined : isRecord(schema.items) ? schema.items : undefined;
    const kept = schema !== undefined && preserves(schema) && element === undefined;
    if (kept) return;
    for (const [index, item] of value.entries()) prune(item, element, `${path}[${index}]`, unknown);
    return;
  }
  if (!isRecord(value)) return;
  const isObject = root || schema?.["x-kubernetes-embedded-resource"] === true;
  const keepsAll = schema !== undefined && preserves(schema);
  for (const key of Object.keys(value)) {
    if (isObject && OBJECT_FIELDS.includes(key)) continue;
    const property = schema === undefined ? undefined : propertyOf(schema, key);
    if (property !== undefined) prune(value[key], property, below(path, key), unknown);
    else if (schema?.additionalProperties === true) prune(value[key], undefined, below(path, key), unknown);
    else if (!keepsAll) {
      delete value[key];
      unknown.push(below(path, key));
    }
  }
}

function isWrongNull(value: unknown, schema: JsonSchema): boolean {
  return value === null && !isNullable(schema);
}

/** Fills in defaults, nested ones too, and drops nulls of fields that may not be null. */
export function applyDefaults(value: unknown, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    const element = isRecord(schema.items) ? schema.items : undefined;
    if (element === undefined) return;
    value.forEach((item, index) => {
      if (isWrongNull(item, element) && element.default !== undefined)
        value[index] = cloneJson(element.default);
      applyDefaults(value[index], element);
    });
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, raw] of Object.entries(record(schema.properties))) {
    const property = record(raw);
    const missing = !Object.hasOwn(value, key) || isWrongNull(value[key], property);
    if (missing && property.default !== undefined) setKey(value, key, cloneJson(property.default));
    else if (Object.hasOwn(value, key) && isWrongNull(value[key], property)) delete value[key];
  }
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    if (property === undefined) continue;
    if (isWrongNull(value[key], property) && property.default !== undefined) {
      setKey(value, key, cloneJson(property.default));
    }
    applyDefaults(value[key], property);
  }
}

/** Paths of a schema tree, for the checks at installation. */
export function walkSchema(
  schema: JsonSchema,
  path: string,
  visit: (schema: JsonSchema, path: string) => void,
): void {
  visit(schema, path);
  for (const [key, property] of Object.entries(record(schema.properties))) {
    walkSchema(record(property), `${path}.properties[${key}]`, visit);
  }
  if (isRecord(schema.items)) walkSchema(schema.items, `${path}.items`, visit);
  if (isRecord(schema.additionalProperties)) {
    walkSchema(schema.additionalProperties, `${path}.additionalProperties`, visit);
  }
}
