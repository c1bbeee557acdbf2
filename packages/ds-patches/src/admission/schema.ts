/** What the API's schema says of fields and values: a walk that tells each mistake at its place (DSP-344, 345). */
import { closest } from "@quartet/core";
import { isQuantity } from "@quartet/pod-template";
import {
  BUILT_IN,
  type Field,
  itemPath,
  memberPath,
  type ScalarType,
  type Shape,
  type TypeName,
  type TypeTable,
} from "@quartet/strategic-merge";
import { isMap } from "../json.ts";
import type { Violation } from "./verdict.ts";

export const ROOT_TYPE = "PodTemplateSpec";

const TYPE_NAMES: Readonly<Record<ScalarType, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  quantity: "a quantity, such as 500m or 2Gi",
  intOrString: "an integer or a string",
  any: "a value",
};

/** What is wrong with a value that is no map or list; nothing for null, which stands for absent. */
export function scalarMistake(scalar: ScalarType, value: unknown): string | undefined {
  return value === null || fits(scalar, value) ? undefined : `must be ${TYPE_NAMES[scalar]}`;
}

function fits(scalar: ScalarType, value: unknown): boolean {
  switch (scalar) {
    case "any":
      return true;
    case "integer":
      return Number.isInteger(value);
    case "quantity":
      return isQuantity(value);
    case "intOrString":
      return typeof value === "string" || Number.isInteger(value);
    default:
      return typeof value === scalar;
  }
}

/** `; did you mean image?` for a typing error. */
export function suggestion(name: string, fields: ReadonlyMap<string, Field> | undefined): string {
  const [near] = closest(name, fields?.keys() ?? []);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Unknown fields and values of another type than the schema's in a template, at its own paths. */
export function fieldViolations(template: unknown, table: TypeTable = BUILT_IN): Violation[] {
  const found: Violation[] = [];
  const walk = (shape: Shape, value: unknown, at: string): void => {
    if (value === null || value === undefined) return;
    if (shape.kind === "scalar") {
      const message = scalarMistake(shape.scalar, value);
      if (message !== undefined) found.push({ path: at, message });
    } else if (shape.kind === "list") {
      if (!Array.isArray(value)) found.push({ path: at, message: "must be a list" });
      else for (const [index, item] of value.entries()) walk(shape.items, item, itemPath(at, index));
    } else if (!isMap(value)) {
      found.push({ path: at, message: "must be an object" });
    } else if (shape.kind === "freeMap") {
      for (const [key, member] of Object.entries(value)) walk(shape.values, member, memberPath(at, key));
    } else {
      walkMap(shape.type, value, at);
    }
  };
  const walkMap = (type: TypeName, map: Record<string, unknown>, path: string): void => {
    const fields = table.types.get(type);
    for (const [key, value] of Object.entries(map)) {
      const at = memberPath(path, key);
      const field = fields?.get(key);
      if (field !== undefined) walk(field.shape, value, at);
      else found.push({ path: at, message: `unknown field${suggestion(key, fields)}` });
    }
  };
  walk({ kind: "map", type: ROOT_TYPE }, template, "");
  return found;
}
