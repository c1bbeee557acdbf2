import { StrategicMergeError } from "./errors.ts";
import { isMap, type JsonMap } from "./json.ts";
import { checkDepth } from "./limits.ts";
import type { TypeName, TypeTable } from "./metadata.ts";

/** An argument as a JSON object of a known type; null or absent stands for an empty one. */
export function asObject(value: unknown, type: TypeName, table: TypeTable): JsonMap {
  if (!table.types.has(type)) throw new StrategicMergeError("UnknownField", "", `there is no type ${type}`);
  if (value === null || value === undefined) return {};
  checkDepth(value);
  if (isMap(value)) return value;
  throw new StrategicMergeError("NotAnObject", "", "must be a JSON object");
}
