/** Reads a built-in object as the server's typed decoder does: what it drops, adds and refuses. */
import { isRawInteger, isRecord, type JsonObject, setKey } from "../json.ts";
import { canonicalQuantity } from "./quantity.ts";
import type { Schema } from "./schema.ts";

/** A value of the wrong type: the request is answered with 400. */
export class DecodeError extends Error {}

const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MICRO_DIGITS = 6;

function goType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

function mismatch(path: string, value: unknown, wanted: string): DecodeError {
  return new DecodeError(
    `json: cannot unmarshal ${goType(value)} into Go struct field ${path} of type ${wanted}`,
  );
}

function decodeTime(value: unknown, path: string): string {
  const match = typeof value === "string" ? RFC3339.exec(value) : null;
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (Number.isNaN(ms)) {
    throw new DecodeError(`parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": ${path}`);
  }
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function decodeMicroTime(value: unknown, path: string): string {
  const match = typeof value === "string" ? RFC3339.exec(value) : null;
  if (match === null || match[2]?.length !== MICRO_DIGITS + 1) {
    const layout = "2006-01-02T15:04:05.000000Z07:00";
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse as ".000000": ${path}`,
    );
  }
  const seconds = new Date(Date.parse(`${match[1]}${match[3]}`)).toISOString().slice(0, 19);
  return `${seconds}${match[2]}Z`;
}

/** What a field holds when nothing was given; `undefined` when it is left out. */
function absent(schema: Schema, path: string, unknown: string[]): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.pointer) return schema.omit ? undefined : null;
  switch (schema.type) {
    case "object":
      return schema.omitZero ? undefined : decodeObject(schema, {}, path, unknown);
    case "time":
    case "microTime":
      return schema.omitZero ? undefined : null;
    case "quantity":
      return schema.omitZero ? undefined : "0";
    case "intOrString":
      return schema.omitZero ? undefined : 0;
    case "string":
      return schema.omit ? undefined : "";
    case "integer":
    case "number":
      return schema.omit ? undefined : 0;
    case "boolean":
      return schema.omit ? undefined : false;
    default:
      return schema.omit ? undefined : null;
  }
}

function decodeScalar(schema: Schema, value: unknown, path: string): unknown {
  switch (schema.type) {
    case "string":
    case "bytes":
      if (typeof value !== "string") throw mismatch(path, value, "string");
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(path, value, "bool");
      return value;
    case "integer":
      if (isRawInteger(value) || Number.isInteger(value)) return value;
      throw mismatch(path, value, "int64");
    case "number":
      if (typeof value !== "number") throw mismatch(path, value, "float64");
      return value;
    case "quantity": {
      const canonical = canonicalQuantity(value);
      if (canonical === undefined) {
        throw new DecodeError(
          `quantities must match the regular expression: ${path}: ${JSON.stringify(value)}`,
        );
      }
      return canonical;
    }
    case "intOrString":
      if (typeof value !== "string" && typeof value !== "number")
        throw mismatch(path, value, "intstr.IntOrString");
      return value;
    case "time":
      return decodeTime(value, path);
    case "microTime":
      return decodeMicroTime(value, path);
    default:
      return value;
  }
}

function isZero(value: unknown): boolean {
  return value === "" || value === 0 || value === false;
}

function decodeValue(schema: Schema, value: unknown, path: string, unknown: string[]): unknown {
  if (value === undefined || value === null) return absent(schema, path, unknown);
  switch (schema.type) {
    case "object":
      return decodeObject(schema, value, path, unknown);
    case "array": {
      if (!Array.isArray(value)) throw mismatch(path, value, "[]");
      if (value.length === 0 && schema.omit && !schema.pointer) return undefined;
      return value.map(
        (item, index) => decodeValue(schema.items!, item, `${path}[${index}]`, unknown) ?? null,
      );
    }
    case "map": {
      if (!isRecord(value)) throw mismatch(path, value, "map[string]");
      const keys = Object.keys(value);
      if (keys.length === 0 && schema.omit && !schema.pointer) return undefined;
      const result: JsonObject = {};
      for (const key of keys) {
        const decoded = decodeValue(schema.values!, value[key], `${path}.${key}`, unknown) ?? null;
        setKey(result, key, schema.values!.type === "quantity" ? canonicalQuantity(decoded, true) : decoded);
      }
      return result;
    }
    default: {
      const scalar = decodeScalar(schema, value, path);
      if (schema.omit && !schema.pointer && isZero(scalar)) return schema.default;
      if (scalar === "" && schema.default !== undefined && !schema.pointer) return schema.default;
      return scalar;
    }
  }
}

function decodeObject(schema: Schema, value: unknown, path: string, unknown: string[]): JsonObject {
  if (!isRecord(value)) throw mismatch(path, value, "struct");
  const properties = schema.properties ?? {};
  const result: JsonObject = {};
  for (const key of Object.keys(properties)) {
    const below = path === "" ? key : `${path}.${key}`;
    const decoded = decodeValue(properties[key]!, value[key], below, unknown);
    if (decoded !== undefined) result[key] = decoded;
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(properties, key)) unknown.push(path === "" ? key : `${path}.${key}`);
  }
  return result;
}

/**
 * The object as the server would hold it, and the paths of the fields that it does not know.
 * Throws {@link DecodeError} for a value of the wrong type.
 */
export function decodeTyped(schema: Schema, value: unknown): { object: JsonObject; unknown: string[] } {
  const unknown: string[] = [];
  const object = decodeObject(schema, value, "", unknown);
  return { object, unknown };
}
