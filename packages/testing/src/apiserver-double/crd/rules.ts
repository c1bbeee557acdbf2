/** CEL rules of a schema (`x-kubernetes-validations`). */
import { isRecord, items, type JsonObject, record, records, sameJson, text } from "../json.ts";
import { type Cause, invalidValue } from "../status.ts";
import { type CompiledExpression, celValue, compileExpression, usesOldSelf } from "./cel.ts";
import { type JsonSchema, propertyOf, walkSchema } from "./structural.ts";

interface Rule {
  source: JsonObject;
  check: CompiledExpression;
  message?: CompiledExpression;
  transition: boolean;
}

/** All rules of a schema, ready to run. */
export interface Rules {
  readonly any: boolean;
  check(value: unknown, old: unknown, path: string): Cause[];
}

const VALIDATIONS = "x-kubernetes-validations";

function compileRule(schema: JsonSchema, source: JsonObject): Rule {
  const expression = text(source.rule);
  const message = text(source.messageExpression);
  return {
    source,
    check: compileExpression(schema, expression, "bool"),
    ...(message === "" ? {} : { message: compileExpression(schema, message, "string") }),
    transition: usesOldSelf(expression),
  };
}

/** Findings about rules that do not compile, for the installation of a CRD. */
export function checkRules(schema: JsonSchema, path: string): Cause[] {
  const found: Cause[] = [];
  walkSchema(schema, path, (node, at) => {
    records(node[VALIDATIONS]).forEach((source, index) => {
      try {
        compileRule(node, source);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        found.push(invalidValue(`${at}.${VALIDATIONS}[${index}].rule`, source, why));
      }
    });
  });
  return found;
}

const REASONS = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

/** What a broken rule says. */
function causeOf(rule: Rule, message: string, value: unknown, path: string): Cause {
  const { source } = rule;
  const field = `${path}${text(source.fieldPath)}` || "<nil>";
  const reason = REASONS.includes(text(source.reason)) ? text(source.reason) : "FieldValueInvalid";
  if (reason === "FieldValueForbidden") return { reason, message: `Forbidden: ${message}`, field };
  if (reason === "FieldValueRequired") return { reason, message: `Required value: ${message}`, field };
  const shown = isRecord(value) || Array.isArray(value) ? "" : `${JSON.stringify(value)}: `;
  const kind = reason === "FieldValueDuplicate" ? "Duplicate value" : "Invalid value";
  return { reason, message: `${kind}: ${shown}${message}`, field };
}

function runRule(rule: Rule, self: unknown, oldSelf: unknown, value: unknown, path: string): Cause[] {
  const { source } = rule;
  try {
    if (rule.check.evaluate(self, oldSelf) === true) return [];
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return [causeOf(rule, `rule evaluation error: ${why}`, value, path)];
  }
  let message = text(source.message) || `failed rule: ${text(source.rule)}`;
  try {
    const written = rule.message?.evaluate(self, oldSelf);
    if (typeof written === "string" && written !== "") message = written;
  } catch {
    // a message that cannot be made gives way to the fixed one
  }
  return [causeOf(rule, message, value, path)];
}

/** The element of an old list with the keys of a new one. */
function sameElement(schema: JsonSchema, old: unknown, item: unknown): unknown {
  if (schema["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = items(schema["x-kubernetes-list-map-keys"]).map(text);
  return records(old).find((candidate) => keys.every((key) => sameJson(candidate[key], record(item)[key])));
}

export function compileRules(schema: JsonSchema): Rules {
  const rules = new Map<JsonSchema, Rule[]>();
  walkSchema(schema, "", (node) => {
    const own = records(node[VALIDATIONS]);
    if (own.length > 0)
      rules.set(
        node,
        own.map((source) => compileRule(node, source)),
      );
  });

  const walk = (node: JsonSchema, value: unknown, old: unknown, path: string): Cause[] => {
    if (value === null || value === undefined) return [];
    // what an update does not touch is not held against it
    if (old !== undefined && sameJson(value, old)) return [];
    const found: Cause[] = [];
    const own = rules.get(node);
    if (own !== undefined) {
      const self = celValue(node, value);
      const oldSelf = old === undefined ? undefined : celValue(node, old);
      for (const rule of own) {
        if (rule.transition && oldSelf === undefined) continue;
        found.push(...runRule(rule, self, oldSelf, value, path));
      }
    }
    if (Array.isArray(value)) {
      const element = isRecord(node.items) ? node.items : undefined;
      if (element === undefined) return found;
      const below = value.flatMap((item, index) =>
        walk(element, item, sameElement(node, old, item), `${path}[${index}]`),
      );
      return [...found, ...below];
    }
    if (!isRecord(value)) return found;
    for (const key of Object.keys(value)) {
      const property = propertyOf(node, key);
      if (property === undefined) continue;
      found.push(...walk(property, value[key], record(old)[key], path === "" ? key : `${path}.${key}`));
    }
    return found;
  };
  return {
    any: rules.size > 0,
    check: (value, old, path) => (rules.size === 0 ? [] : walk(schema, value, old, path)),
  };
}
