/** Printer columns of custom resources. */
import { type JsonObject, text } from "../json.ts";
import type { Column } from "../registry.ts";
import { AGE_COLUMN, humanDuration } from "./columns.ts";
import { compileJsonPath } from "./json-path.ts";

function cell(type: string, value: unknown, now: number): unknown {
  if (type === "integer" || type === "number") return typeof value === "number" ? value : null;
  if (type === "boolean") return typeof value === "boolean" ? value : null;
  if (type === "date") {
    const time = Date.parse(String(value));
    return Number.isNaN(time) ? "<invalid>" : humanDuration(now - time);
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function crdColumn(column: JsonObject): Column {
  const read = compileJsonPath(text(column.jsonPath));
  const type = text(column.type);
  return {
    name: text(column.name),
    type,
    ...(text(column.format) === "" ? {} : { format: text(column.format) }),
    ...(text(column.description) === "" ? {} : { description: text(column.description) }),
    priority: Number(column.priority ?? 0),
    value: (object, now) => {
      const value = read?.(object)[0];
      return value === undefined || value === null ? null : cell(type, value, now);
    },
  };
}

/** Columns after the name; the age when the CRD names none. */
export function crdColumns(columns: readonly JsonObject[]): readonly Column[] {
  return columns.length === 0 ? [AGE_COLUMN] : columns.map(crdColumn);
}
