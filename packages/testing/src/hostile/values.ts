/** The values of a schema that programs stumble over: the limits, the empty, the long, the oddly named. */
import type { JsonObject } from "../apiserver-double/json.ts";
import { items, record, text } from "../apiserver-double/json.ts";
import type { Random } from "./random.ts";

/** Levels, and values of one resource, beyond which optional fields and items are left out. */
const MAX_DEPTH = 12;
const MAX_VALUES = 400;
/** Items of a list or map at most, where the schema sets no limit. */
const MANY = 40;
/** Characters of a long text, where the schema sets no limit. */
const LONG = 20_000;
const INT32 = 2_147_483_647;

/** Texts that are well-formed JSON and little else. */
const STRINGS: readonly string[] = [
  "",
  " ",
  "a",
  "-",
  ".",
  "..",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "true",
  "0",
  "-1",
  "1e400",
  "NaN",
  "9007199254740993",
  "a=b,c!=d",
  "a/b/c",
  "http://127.0.0.1:1/",
  "http://[::1]/?#@",
  "$(HOME) {{ .Values }} %s %n",
  "line\nbreak\r\nand\ttab",
  "\u0001\u001b[31m\u007f",
  "\ud83d\ude00\u202e\u200b\u00e9",
  "example.com",
  "*.example.com",
  "xn--nxasmq6b.example",
  "10.0.0.0/8",
  "100m",
  "1Gi",
  "-5Ki",
  "1".repeat(64),
  "25%",
  "101%",
  "-1%",
  "2026-01-01T00:00:00Z",
  "busybox",
  `registry.example:5000/a/b@sha256:${"0".repeat(64)}`,
  "a".repeat(63),
  "a".repeat(253),
  "a".repeat(LONG),
];

const NUMBERS: readonly number[] = [0, 1, -1, 2, 7, 100, 65_535, 65_536, INT32, -INT32 - 1];
const KEYS: readonly string[] = [
  "a",
  "__proto__",
  "constructor",
  "app",
  "kubernetes.io/hostname",
  "x".repeat(63),
  "A.b_c-d",
  "",
  "with space",
  "example.com/with/two",
];

/** A value that a schema allows, as far as types, limits, patterns and enums go; `undefined` where none was found. */
export function hostileValue(schema: JsonObject, random: Random): unknown {
  return made(schema, { random, left: MAX_VALUES, depth: 0 });
}

interface Making {
  readonly random: Random;
  /** Values that may yet be made. */
  left: number;
  depth: number;
}

function made(schema: JsonObject, making: Making): unknown {
  const { random } = making;
  making.left--;
  if (schema.nullable === true && random.chance(0.05)) return null;
  const choices = items(schema.enum);
  if (choices.length > 0) return random.pick(choices);
  if (schema["x-kubernetes-int-or-string"] === true)
    return random.chance(0.5) ? numberOf(schema, random) : stringOf(schema, random);
  switch (text(schema.type)) {
    case "string":
      return stringOf(schema, random);
    case "integer":
      return numberOf(schema, random);
    case "number":
      return random.chance(0.3) ? 0.1 : numberOf(schema, random);
    case "boolean":
      return random.chance(0.5);
    case "array":
      return below(making, () => listOf(schema, making));
    case "object":
      return below(making, () => objectOf(schema, making));
    default:
      return schema["x-kubernetes-preserve-unknown-fields"] === true
        ? nested(random.pick([1, 20, 150]))
        : undefined;
  }
}

function below<T>(making: Making, make: () => T): T {
  making.depth++;
  const value = make();
  making.depth--;
  return value;
}

const isSpent = ({ left, depth }: Making): boolean => left <= 0 || depth > MAX_DEPTH;

/** Maps within maps, which code that calls itself runs out of stack on. */
function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

function stringOf(schema: JsonObject, random: Random): string | undefined {
  const {
    pattern,
    minLength = 0,
    maxLength = Number.POSITIVE_INFINITY,
  } = schema as {
    pattern?: string;
    minLength?: number;
    maxLength?: number;
  };
  const expression = pattern === undefined ? undefined : expressionOf(pattern);
  const limit = Math.min(Number(maxLength), LONG);
  const found = [...STRINGS, "a".repeat(limit), "a".repeat(Number(minLength))].filter(
    (value) =>
      value.length >= Number(minLength) &&
      value.length <= Number(maxLength) &&
      (expression === undefined || expression.test(value)) &&
      (schema.format === undefined || schema.format !== "date-time" || value.includes("T00:")),
  );
  return found.length === 0 ? undefined : random.pick(found);
}

/** `undefined` for what is no expression of JavaScript. */
function expressionOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

function numberOf(schema: JsonObject, random: Random): number | undefined {
  const low = Number(schema.minimum ?? Number.NEGATIVE_INFINITY);
  const high = Number(schema.maximum ?? Number.POSITIVE_INFINITY);
  const limits = [low, low + 1, high, high - 1].filter(Number.isFinite);
  const found = [
    ...NUMBERS,
    ...limits,
    ...(schema.format === "int32" ? [] : [Number.MAX_SAFE_INTEGER]),
  ].filter((value) => value >= low && value <= high);
  return found.length === 0 ? undefined : random.pick(found);
}

function listOf(schema: JsonObject, making: Making): unknown[] {
  const { random } = making;
  const least = Number(schema.minItems ?? 0);
  const most = Math.min(Number(schema.maxItems ?? MANY), MANY);
  const wanted = random.pick([least, Math.min(1, most), Math.min(2, most), most]);
  const values: unknown[] = [];
  const seen = new Set<string>();
  const keys = items(schema["x-kubernetes-list-map-keys"]).map(text);
  for (let tries = 0; tries < wanted && (values.length < least || !isSpent(making)); tries++) {
    const value = made(record(schema.items), making);
    if (value === undefined || value === null) continue;
    // Lists that are sets or maps hold nothing twice.
    const id = JSON.stringify(keys.length === 0 ? value : keys.map((key) => (value as JsonObject)[key]));
    if (schema["x-kubernetes-list-type"] !== undefined && seen.has(id)) continue;
    seen.add(id);
    values.push(value);
  }
  return values;
}

function objectOf(schema: JsonObject, making: Making): JsonObject {
  const { random } = making;
  const value: JsonObject = {};
  const set = (key: string, one: unknown): void => {
    if (one !== undefined)
      Object.defineProperty(value, key, { value: one, enumerable: true, configurable: true, writable: true });
  };
  const properties = Object.entries(record(schema.properties));
  const required = items(schema.required).map(text);
  // A few of many fields, so that deep ones are reached and the whole stays small.
  const share = Math.min(0.6, 6 / Math.max(1, properties.length));
  for (const [key, property] of properties)
    if (required.includes(key) || (!isSpent(making) && random.chance(share)))
      set(key, made(record(property), making));
  const { additionalProperties } = schema;
  if (typeof additionalProperties === "object" && additionalProperties !== null) {
    const count = isSpent(making) ? 0 : random.pick([0, 1, 3, KEYS.length]);
    for (let index = 0; index < count; index++)
      set(random.pick(KEYS), made(additionalProperties as JsonObject, making));
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === true && random.chance(0.3))
    set("unknown", nested(100));
  return value;
}
