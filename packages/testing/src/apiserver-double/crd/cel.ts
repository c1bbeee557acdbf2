/** The CEL environment of validation rules: types of the schema, and the server's own functions as far as needed. */
import { Environment } from "@marcbachmann/cel-js";
import { isRawInteger, isRecord, type JsonObject, record, text } from "../json.ts";
import { type JsonSchema, preserves } from "./structural.ts";

type Comparable = bigint | number | string;

function smallest(list: readonly Comparable[], sign: number): Comparable {
  if (list.length === 0) throw new Error("min/max called on empty list");
  return list.reduce((best, value) => ((value < best ? -1 : 1) * sign < 0 ? value : best));
}

function addFunctions(environment: Environment): Environment {
  return environment
    .registerFunction("list.sum(): dyn", (list: (bigint | number)[]) =>
      list.reduce<bigint | number>(
        (sum, value) =>
          typeof sum === "bigint" && typeof value === "bigint" ? sum + value : Number(sum) + Number(value),
        0n,
      ),
    )
    .registerFunction("list.min(): dyn", (list: Comparable[]) => smallest(list, 1))
    .registerFunction("list.max(): dyn", (list: Comparable[]) => smallest(list, -1))
    .registerFunction("list.isSorted(): bool", (list: Comparable[]) =>
      list.every((value, index) => index === 0 || list[index - 1]! <= value),
    )
    .registerFunction(
      "string.find(string): string",
      (value: string, pattern: string) => new RegExp(pattern, "u").exec(value)?.[0] ?? "",
    )
    .registerFunction("isURL(string): bool", (value: string) => URL.canParse(value));
}

function newEnvironment(): Environment {
  return addFunctions(new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false }));
}

/** Registers the types below a schema node; returns the name of its own. */
function typeName(environment: Environment, schema: JsonSchema, counter: { next: number }): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "dyn";
  switch (text(schema.type)) {
    case "integer":
      return "int";
    case "number":
      return "double";
    case "boolean":
      return "bool";
    case "string":
      return schema.format === "date-time" ? "google.protobuf.Timestamp" : "string";
    case "array":
      return `list<${typeName(environment, record(schema.items), counter)}>`;
    case "object":
      break;
    default:
      return "dyn";
  }
  if (isRecord(schema.additionalProperties)) {
    return `map<string, ${typeName(environment, schema.additionalProperties, counter)}>`;
  }
  if (preserves(schema) && Object.keys(record(schema.properties)).length === 0) return "dyn";
  const fields: Record<string, string> = {};
  for (const [key, property] of Object.entries(record(schema.properties))) {
    fields[escapeName(key)] = typeName(environment, record(property), counter);
  }
  counter.next += 1;
  const name = `Object${counter.next}`;
  environment.registerType(name, { fields });
  return name;
}

/** Words of the language; a field that is called so stands between underscores. */
const WORDS: ReadonlySet<string> = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return void " +
    "while var"
  ).split(" "),
);

/** Field names as rules write them: `my-field` is `my__dash__field`, `namespace` is `__namespace__`. */
function escapeName(name: string): string {
  if (WORDS.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

/** A JSON value in the form that rules see: integers as 64-bit integers, times as times. */
export function celValue(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => celValue(record(schema.items), item));
  if (isRecord(value)) {
    const properties = record(schema.properties);
    const values = isRecord(schema.additionalProperties) ? schema.additionalProperties : {};
    const named = Object.keys(properties).length > 0;
    const converted: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      const below = Object.hasOwn(properties, key) ? record(properties[key]) : values;
      converted[named ? escapeName(key) : key] = celValue(below, item);
    }
    return converted;
  }
  if (isRawInteger(value)) return BigInt(value.rawJSON);
  if (typeof value === "number") {
    return schema.type !== "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "string" && schema.format === "date-time") return new Date(value);
  return value;
}

export interface CompiledExpression {
  evaluate(self: unknown, oldSelf: unknown): unknown;
}

/** The library's `has` knows members of names alone; of an element it is asked within a list of one. */
function withNamedElements(expression: string): string {
  return expression.replace(/\bhas\(([\w.]+\[\d+\])\.([\w.]+)\)/g, "[$1].exists(e_, has(e_.$2))");
}

/** Checks an expression against a schema node and prepares it; throws an Error that says what is wrong. */
export function compileExpression(
  schema: JsonSchema,
  source: string,
  result: "bool" | "string",
): CompiledExpression {
  const expression = withNamedElements(source);
  const environment = newEnvironment();
  const type = typeName(environment, schema, { next: 0 });
  const typed = environment.registerVariable("self", type).registerVariable("oldSelf", type);
  const checked = typed.check(expression);
  if (!checked.valid) throw new Error(`compilation failed: ${checked.error?.message ?? "unknown error"}`);
  const found = String(checked.type);
  if (found !== result && found !== "dyn") {
    throw new Error(`compilation failed: cel expression must evaluate to a ${result}`);
  }
  // evaluated on plain values: wrapped ones would tell a missing field from the real server differently
  const free = newEnvironment()
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn")
    .parse(expression);
  return { evaluate: (self, oldSelf) => free({ self, oldSelf }) };
}

/** Whether a rule compares with the former value. */
export function usesOldSelf(expression: string): boolean {
  return /\boldSelf\b/.test(expression);
}
