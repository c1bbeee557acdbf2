/** Merge metadata from the OpenAPI documents of an API server. */
import type { Field, ScalarType, Shape, TypeName, TypeTable } from "./metadata.ts";

/** The part of a schema that is read. */
interface Schema {
  $ref?: string;
  allOf?: Schema[];
  oneOf?: Schema[];
  type?: string;
  format?: string;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  properties?: Record<string, Schema>;
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
}

/** An OpenAPI v3 document (as `/openapi/v3/api/v1` answers it) or a v2 one (`/openapi/v2`). */
export interface OpenApiDocument {
  components?: { schemas?: Record<string, object> };
  definitions?: Record<string, object>;
}

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const VERSIONED = /\.([a-z0-9-]+)\.(v\d[a-z0-9]*)\.(\w+)$/;
const CORE_GROUP = "core";

/** Name of the type that a schema of a document defines. */
export function typeNameOf(schemaName: string): TypeName {
  const [, group, version, name] = VERSIONED.exec(schemaName) ?? [];
  if (name === undefined) return schemaName.slice(schemaName.lastIndexOf(".") + 1);
  return group === CORE_GROUP && version === "v1" ? name : `${group}.${version}.${name}`;
}

/**
 * The types that can be reached from the given schemas, or from all kinds with object metadata when none is given.
 * Only `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` count; list types and list map keys describe
 * server-side apply. Throws when a root or a reference leads nowhere.
 */
export function readTypes(document: OpenApiDocument, roots?: readonly string[]): TypeTable {
  const schemas = new Map(Object.entries({ ...document.definitions, ...document.components?.schemas }));
  const types = new Map<TypeName, ReadonlyMap<string, Field>>();
  const kinds = new Map<string, TypeName>();
  const queue = [...(roots ?? [...schemas].filter(([, schema]) => isKind(schema)).map(([name]) => name))];
  const seen = new Set(queue);
  for (const name of queue) {
    const schema: Schema | undefined = schemas.get(name);
    if (schema === undefined) throw new Error(`the OpenAPI document has no schema ${name}`);
    const fields = new Map<string, Field>();
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      const reached: string[] = [];
      fields.set(key, fieldOf(property, schemas, reached));
      for (const next of reached) {
        if (seen.has(next)) continue;
        seen.add(next);
        queue.push(next);
      }
    }
    types.set(typeNameOf(name), fields);
    const [gvk] = isKind(schema) ? schema["x-kubernetes-group-version-kind"]! : [];
    if (gvk !== undefined) kinds.set(`${gvk.group}/${gvk.version}/${gvk.kind}`, typeNameOf(name));
  }
  return { types, kinds };
}

/** Whether a schema is of a kind that is stored: one group, version and kind, and the metadata of an object. */
function isKind(schema: Schema): boolean {
  const metadata = schema.properties?.metadata;
  return (
    schema["x-kubernetes-group-version-kind"]?.length === 1 &&
    metadata !== undefined &&
    referenceOf(metadata) === OBJECT_META
  );
}

function fieldOf(property: Schema, schemas: ReadonlyMap<string, Schema>, reached: string[]): Field {
  const strategy = property["x-kubernetes-patch-strategy"];
  return {
    shape: shapeOf(property, schemas, reached),
    strategies: strategy === undefined ? [] : strategy.split(","),
    mergeKey: property["x-kubernetes-patch-merge-key"] ?? "",
  };
}

function shapeOf(schema: Schema, schemas: ReadonlyMap<string, Schema>, reached: string[]): Shape {
  const reference = referenceOf(schema);
  if (reference !== undefined) {
    const target = schemas.get(reference);
    if (target === undefined) throw new Error(`the OpenAPI document has no schema ${reference}`);
    if (target.properties === undefined) return { kind: "scalar", scalar: scalarOf(target, reference) };
    reached.push(reference);
    return { kind: "map", type: typeNameOf(reference) };
  }
  if (schema.items !== undefined) return { kind: "list", items: shapeOf(schema.items, schemas, reached) };
  if (typeof schema.additionalProperties === "object") {
    return { kind: "freeMap", values: shapeOf(schema.additionalProperties, schemas, reached) };
  }
  return { kind: "scalar", scalar: scalarOf(schema, "") };
}

/** Schema that a reference names, bare or inside an `allOf` of one element. */
function referenceOf(schema: Schema): string | undefined {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  return reference?.slice(reference.lastIndexOf("/") + 1);
}

function scalarOf(schema: Schema, name: string): ScalarType {
  if (name === QUANTITY) return "quantity";
  if (schema.format === "int-or-string") return "intOrString";
  switch (schema.type) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
      return schema.type;
    default:
      return "any";
  }
}
