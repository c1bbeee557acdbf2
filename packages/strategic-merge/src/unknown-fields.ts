import { BUILT_IN } from "./built-in.ts";
import { entriesOf, isMap, type Json, type JsonMap, setKey } from "./json.ts";
import type { Shape, TypeName, TypeTable } from "./metadata.ts";
import { asObject } from "./object.ts";
import { itemPath, memberPath } from "./path.ts";

/** A value without the fields that its type does not have, and the paths where they stood. */
export interface KnownPart<T> {
  value: T;
  unknown: string[];
}

/**
 * Takes fields out of an object, or of a patch for one, that its type does not have, at every depth; the API server's
 * typed decoding would drop them. Directives stay. The argument is not altered.
 */
export function dropUnknownFields<T>(type: TypeName, value: T, table: TypeTable = BUILT_IN): KnownPart<T> {
  const unknown: string[] = [];
  const known = knownMap(table, type, asObject(value, type, table), "", unknown);
  return { value: known as T, unknown };
}

function knownMap(table: TypeTable, type: TypeName, map: JsonMap, path: string, unknown: string[]): JsonMap {
  const result: JsonMap = {};
  for (const [key, value] of entriesOf(map)) {
    const at = memberPath(path, key);
    const field = table.types.get(type)?.get(key);
    if (field !== undefined) setKey(result, key, knownValue(table, field.shape, value, at, unknown));
    else if (key.startsWith("$")) setKey(result, key, value);
    else unknown.push(at);
  }
  return result;
}

function knownValue(table: TypeTable, shape: Shape, value: Json, path: string, unknown: string[]): Json {
  if (shape.kind === "list" && Array.isArray(value)) {
    return value.map((item, index) => knownValue(table, shape.items, item, itemPath(path, index), unknown));
  }
  if (!isMap(value)) return value;
  if (shape.kind === "map") return knownMap(table, shape.type, value, path, unknown);
  if (shape.kind !== "freeMap") return value;
  const result: JsonMap = {};
  for (const [key, member] of entriesOf(value)) {
    setKey(result, key, knownValue(table, shape.values, member, memberPath(path, key), unknown));
  }
  return result;
}
