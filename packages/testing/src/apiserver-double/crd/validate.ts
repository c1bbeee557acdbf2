/** Checks a custom resource against its schema. */
import { isRawInteger, isRecord, items, type JsonObject, record, sameJson, text } from "../json.ts";
import {
  type Cause,
  duplicate,
  invalidValue,
  required,
  tooLong,
  typeInvalid,
  unsupported,
} from "../status.ts";
import { hasFormat } from "./formats.ts";
import type { Rules } from "./rules.ts";
import { isNullable, type JsonSchema, propertyOf } from "./structural.ts";

const INT32_LIMIT = 2 ** 31;

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isRawInteger(value)) return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function typeFits(schema: JsonSchema, value: unknown): boolean {
  const actual = typeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) return actual === "integer" || actual === "string";
  const wanted = text(schema.type);
  return wanted === "" || wanted === actual || (wanted === "number" && actual === "integer");
}

function wrongType(schema: JsonSchema, value: unknown, path: string): Cause {
  const wanted = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : text(schema.type);
  const actual = typeOf(value);
  return typeInvalid(path, actual, `${path} in body must be of type ${wanted}: ${JSON.stringify(actual)}`);
}

const length = (value: string): number => [...value].length;

/** A pattern of Go's syntax: there scripts of Unicode are named directly, and what need not be escaped may be. */
function patternOf(pattern: string): RegExp {
  return new RegExp(pattern.replace(/\\p\{(Han|Latin|Greek|Cyrillic)\}/g, "\\p{Script=$1}"), "u");
}

function checkString(schema: JsonSchema, value: string, path: string): Cause[] {
  const found: Cause[] = [];
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof maxLength === "number" && length(value) > maxLength) {
    found.push(tooLong(path, `may not be more than ${maxLength} bytes`));
  }
  if (typeof minLength === "number" && length(value) < minLength) {
    found.push(invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (typeof pattern === "string" && !patternOf(pattern).test(value)) {
    found.push(invalidValue(path, value, `${path} in body should match '${pattern}'`));
  }
  if (typeof format === "string" && !hasFormat(format, value)) {
    found.push(
      invalidValue(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`),
    );
  }
  return found;
}

function checkNumber(schema: JsonSchema, value: number, path: string): Cause[] {
  const found: Cause[] = [];
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum, format } = schema;
  if (typeof minimum === "number" && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    const relation = exclusiveMinimum === true ? "greater than" : "greater than or equal to";
    found.push(invalidValue(path, value, `${path} in body should be ${relation} ${minimum}`));
  }
  if (typeof maximum === "number" && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    const relation = exclusiveMaximum === true ? "less than" : "less than or equal to";
    found.push(invalidValue(path, value, `${path} in body should be ${relation} ${maximum}`));
  }
  if (typeof multipleOf === "number" && value % multipleOf !== 0) {
    found.push(invalidValue(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
  if (format === "int32" && (value >= INT32_LIMIT || value < -INT32_LIMIT)) {
    found.push(
      invalidValue(path, value, `${path} in body must be of type int32: ${JSON.stringify(String(value))}`),
    );
  }
  return found;
}

function mapKey(schema: JsonSchema, item: unknown): string {
  const keys = items(schema["x-kubernetes-list-map-keys"]).map(text);
  const element = record(schema.items);
  return JSON.stringify(
    keys.map((key) => record(item)[key] ?? record(record(element.properties)[key]).default ?? null),
  );
}

function checkUnique(schema: JsonSchema, value: readonly unknown[], path: string): Cause[] {
  const kind = schema["x-kubernetes-list-type"];
  if (kind !== "set" && kind !== "map") return [];
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    const key = kind === "set" ? JSON.stringify(item) : mapKey(schema, item);
    const again = seen.has(key);
    seen.add(key);
    if (!again) return [];
    if (kind === "set") return [duplicate(`${path}[${index}]`, item)];
    const names = items(schema["x-kubernetes-list-map-keys"]).map(text);
    return [
      duplicate(`${path}[${index}]`, Object.fromEntries(names.map((name) => [name, record(item)[name]]))),
    ];
  });
}

/** The element of the old list that belongs to an element of the new one. */
function counterpart(schema: JsonSchema, old: unknown, item: unknown): unknown {
  if (schema["x-kubernetes-list-type"] !== "map") return undefined;
  const key = mapKey(schema, item);
  return items(old).find((candidate) => mapKey(schema, candidate) === key);
}

function checkArray(schema: JsonSchema, value: unknown[], old: unknown, path: string): Cause[] {
  const found: Cause[] = [];
  const { minItems, maxItems } = schema;
  if (typeof maxItems === "number" && value.length > maxItems) {
    const message = `Too many: ${value.length}: must have at most ${maxItems} items`;
    found.push({ reason: "FieldValueTooMany", message, field: path });
  }
  if (typeof minItems === "number" && value.length < minItems) {
    found.push(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    found.push(duplicate(path, value));
  }
  const element = isRecord(schema.items) ? schema.items : undefined;
  if (element !== undefined) {
    value.forEach((item, index) => {
      found.push(...checkNode(element, item, counterpart(schema, old, item), `${path}[${index}]`));
    });
  }
  return [...found, ...checkUnique(schema, value, path)];
}

function checkObject(schema: JsonSchema, value: JsonObject, old: unknown, path: string): Cause[] {
  const found: Cause[] = [];
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  for (const key of items(schema.required).map(text)) {
    if (!Object.hasOwn(value, key)) found.push(required(at(key)));
  }
  const size = Object.keys(value).length;
  if (typeof schema.maxProperties === "number" && size > schema.maxProperties) {
    const message = `Too many: ${size}: must have at most ${schema.maxProperties} items`;
    found.push({ reason: "FieldValueTooMany", message, field: path });
  }
  if (typeof schema.minProperties === "number" && size < schema.minProperties) {
    found.push(
      invalidValue(path, size, `${path} in body should have at least ${schema.minProperties} properties`),
    );
  }
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    if (property !== undefined) {
      const before = isRecord(old) && Object.hasOwn(old, key) ? old[key] : undefined;
      found.push(...checkNode(property, value[key], before, at(key)));
    }
  }
  return found;
}

function fits(schema: unknown, value: unknown, path: string): boolean {
  return checkNode(record(schema), value, undefined, path).length === 0;
}

function checkCombined(schema: JsonSchema, value: unknown, path: string): Cause[] {
  const found: Cause[] = [];
  for (const part of items(schema.allOf)) found.push(...checkNode(record(part), value, undefined, path));
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((part) => fits(part, value, path))) {
    found.push(invalidValue(path, value, `${path} in body must validate at least one schema (anyOf)`));
  }
  if (Array.isArray(schema.oneOf)) {
    const count = schema.oneOf.filter((part) => fits(part, value, path)).length;
    if (count !== 1) {
      const more = count === 0 ? "Found none valid" : `Found ${count} valid alternatives`;
      found.push(
        invalidValue(path, value, `${path} in body must validate one and only one schema (oneOf). ${more}`),
      );
    }
  }
  if (isRecord(schema.not) && fits(schema.not, value, path)) {
    found.push(invalidValue(path, value, `${path} in body must not validate the schema (not)`));
  }
  return found;
}

function checkNode(schema: JsonSchema, value: unknown, old: unknown, path: string): Cause[] {
  // what an update does not touch is not held against it
  if (old !== undefined && sameJson(value, old)) return [];
  if (value === null && isNullable(schema)) return [];
  if (!typeFits(schema, value)) return [wrongType(schema, value, path)];
  const found: Cause[] = [];
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => sameJson(allowed, value))) {
    found.push(unsupported(path, value, schema.enum));
  }
  if (typeof value === "string") found.push(...checkString(schema, value, path));
  else if (typeof value === "number") found.push(...checkNumber(schema, value, path));
  else if (isRawInteger(value)) found.push(...checkNumber(schema, Number(value.rawJSON), path));
  else if (Array.isArray(value)) found.push(...checkArray(schema, value, old, path));
  else if (isRecord(value)) found.push(...checkObject(schema, value, old, path));
  return [...found, ...checkCombined(schema, value, path)];
}

/** Findings that keep the CEL rules from being run. */
const BLOCKING = [
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
];

const RULES_NOT_RUN =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** Findings about an object; `old` is the stored one in case of an update. */
export function checkSchema(
  schema: JsonSchema,
  object: JsonObject,
  old: JsonObject | undefined,
  rules: Rules,
): Cause[] {
  const { metadata: _metadata, ...body } = object;
  const before = old === undefined ? undefined : { ...old };
  if (before !== undefined) delete before.metadata;
  const root = { ...schema, properties: { ...record(schema.properties) } as JsonObject };
  delete root.properties.metadata;
  const found = checkNode(root, body, before, "");
  if (!rules.any) return found;
  if (found.some(({ reason }) => BLOCKING.includes(reason))) {
    return [...found, { ...invalidValue("<nil>", null, RULES_NOT_RUN) }];
  }
  return [...found, ...rules.check(object, old, "")];
}

/** Findings about a default value of a schema node. */
export function checkDefault(schema: JsonSchema, field: string): Cause[] {
  if (schema.default === undefined) return [];
  return checkNode(schema, schema.default, undefined, "").map((cause) => ({
    ...cause,
    field: `${field}.default`,
  }));
}
