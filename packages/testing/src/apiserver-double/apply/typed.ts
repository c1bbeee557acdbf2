/** How server-side apply looks at a value: as one leaf, as named fields, or as elements told apart by keys. */
import { isRecord, type JsonObject, sameJson } from "../json.ts";
import type { Schema } from "../schemas/schema.ts";
import { emptySet, type FieldSet, nodeAt } from "./field-set.ts";

/** A value of which no schema tells: objects by field, lists as a whole. */
const DEDUCED: Schema = { type: "any", open: true };

export type Shape = "leaf" | "fields" | "elements";

export function shapeOf(schema: Schema, value: unknown): Shape {
  if (Array.isArray(value)) {
    const keyed = schema.type === "array" && (schema.list === "map" || schema.list === "set");
    return keyed ? "elements" : "leaf";
  }
  if (!isRecord(value)) return "leaf";
  if (schema.map === "atomic") return "leaf";
  if (schema.type === "any") return schema.open ? "fields" : "leaf";
  return schema.type === "object" || schema.type === "map" ? "fields" : "leaf";
}

export function fieldSchema(schema: Schema, key: string): Schema {
  if (schema.type === "object") return schema.properties?.[key] ?? DEDUCED;
  return schema.type === "map" ? (schema.values ?? DEDUCED) : DEDUCED;
}

/** Whether the schema names the field; entries of maps and free fields are not named. */
export function isNamed(schema: Schema, key: string): boolean {
  return schema.type === "object" && schema.properties !== undefined && Object.hasOwn(schema.properties, key);
}

/** Path key of an element of a list. */
export function elementKey(schema: Schema, element: unknown): string {
  if (schema.list === "set") return `v:${JSON.stringify(element)}`;
  const keys: JsonObject = {};
  for (const key of [...(schema.keys ?? [])].sort()) {
    const given = isRecord(element) ? element[key] : undefined;
    const value = given ?? schema.items?.properties?.[key]?.default;
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** Adds the paths of all that a value holds. */
function collect(schema: Schema, value: unknown, set: FieldSet, mark: () => void): void {
  const shape = shapeOf(schema, value);
  if (shape === "leaf" || isEmptyValue(value)) {
    mark();
    return;
  }
  if (shape === "elements") {
    for (const element of value as unknown[]) {
      const node = nodeAt(set, elementKey(schema, element));
      node.self = true;
      if (isRecord(element)) collect(schema.items ?? DEDUCED, element, node.below, () => {});
    }
    return;
  }
  for (const [key, item] of Object.entries(value as JsonObject)) {
    const node = nodeAt(set, `f:${key}`);
    const own = (): void => {
      node.self = true;
    };
    collect(fieldSchema(schema, key), item, node.below, own);
    if (item === null || (isRecord(item) && isEmptyValue(item)) || !isNamed(schema, key)) own();
  }
}

/** The paths that a value sets. */
export function fieldsOf(schema: Schema, value: JsonObject): FieldSet {
  const set = emptySet();
  collect(schema, value, set, () => {});
  return set;
}

export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

type Path = readonly string[];

function put(set: FieldSet, path: Path): void {
  let level = set;
  for (const key of path.slice(0, -1)) level = nodeAt(level, key).below;
  nodeAt(level, path.at(-1)!).self = true;
}

function elementsByKey(schema: Schema, value: unknown): Map<string, unknown> {
  const found = new Map<string, unknown>();
  if (Array.isArray(value)) for (const element of value) found.set(elementKey(schema, element), element);
  return found;
}

function compareLeaf(before: unknown, after: unknown, path: Path, result: Comparison): void {
  if (path.length === 0) return;
  if (before === undefined) put(result.added, path);
  else if (after === undefined) put(result.removed, path);
  else if (!sameJson(before, after)) put(result.modified, path);
}

function walk(schema: Schema, before: unknown, after: unknown, path: Path, result: Comparison): void {
  const shape = shapeOf(schema, isEmptyValue(after) ? before : after);
  if (shape === "leaf" || (isEmptyValue(before) && isEmptyValue(after))) {
    compareLeaf(before, after, path, result);
    return;
  }
  if (path.length > 0) {
    if (before === undefined) put(result.added, path);
    else if (after === undefined) put(result.removed, path);
  }
  if (shape === "elements") {
    const left = elementsByKey(schema, before);
    const right = elementsByKey(schema, after);
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      walk(schema.items ?? DEDUCED, left.get(key), right.get(key), [...path, key], result);
    }
    return;
  }
  const left = isRecord(before) ? before : {};
  const right = isRecord(after) ? after : {};
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    walk(fieldSchema(schema, key), left[key], right[key], [...path, `f:${key}`], result);
  }
}

/** What a change added, modified and removed. */
export function compare(schema: Schema, before: JsonObject, after: JsonObject): Comparison {
  const result: Comparison = { added: emptySet(), modified: emptySet(), removed: emptySet() };
  walk(schema, before, after, [], result);
  return result;
}
