/** Label and field selectors of list, watch and deletecollection. */
import type { Call } from "./call.ts";
import type { KubeObject } from "./object.ts";
import type { ResourceType } from "./registry.ts";
import { badRequest } from "./status.ts";

export type Matcher = (object: KubeObject) => boolean;

type Labels = Readonly<Record<string, string>>;
type LabelTest = (labels: Labels) => boolean;

const SET = /^\s*([^\s,()!=]+)\s+(in|notin)\s*\(([^()]*)\)\s*$/;
const EQUALITY = /^\s*([^\s,()!=]+)\s*(==|=|!=)\s*([^\s,()!=]*)\s*$/;
const EXISTS = /^\s*(!?)\s*([^\s,()!=]+)\s*$/;
const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Splits at commas outside parentheses. */
function requirements(selector: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < selector.length; i += 1) {
    const letter = selector[i];
    if (letter === "(") depth += 1;
    else if (letter === ")") depth -= 1;
    else if (letter === "," && depth === 0) {
      parts.push(selector.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(selector.slice(start));
  return parts;
}

function labelTest(requirement: string): LabelTest | undefined {
  const set = SET.exec(requirement);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = new Set(list.split(",").map((value) => value.trim()));
    if (!KEY.test(key)) return undefined;
    if (operator === "in") return (labels) => Object.hasOwn(labels, key) && values.has(labels[key]!);
    return (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key]!);
  }
  const equality = EQUALITY.exec(requirement);
  if (equality !== null) {
    const [, key = "", operator, value = ""] = equality;
    if (!KEY.test(key)) return undefined;
    if (operator === "!=") return (labels) => labels[key] !== value;
    return (labels) => labels[key] === value;
  }
  const exists = EXISTS.exec(requirement);
  if (exists === null || !KEY.test(exists[2]!)) return undefined;
  const [, not, key = ""] = exists;
  return (labels) => Object.hasOwn(labels, key) === (not === "");
}

function labelMatcher(selector: string): Matcher {
  const tests = requirements(selector).map((requirement) => {
    const test = labelTest(requirement);
    if (test === undefined) {
      throw badRequest(
        `unable to parse requirement: ${JSON.stringify(selector)}: couldn't parse the selector string ${JSON.stringify(selector)}`,
      );
    }
    return test;
  });
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return tests.every((test) => test(labels));
  };
}

const FIELD = /^([^=!]+)(==|=|!=)(.*)$/;

function fieldMatcher(type: ResourceType, selector: string): Matcher {
  const tests = requirements(selector).map((requirement): Matcher => {
    const match = FIELD.exec(requirement.trim());
    if (match === null) {
      throw badRequest(`unable to parse field selector: invalid field selector: ${JSON.stringify(selector)}`);
    }
    const [, label = "", operator, value = ""] = match;
    const read = fieldReader(type, label);
    return operator === "!=" ? (object) => read(object) !== value : (object) => read(object) === value;
  });
  return (object) => tests.every((test) => test(object));
}

/** The one name that a field selector allows, else `""`: rights on that object are then enough to list or watch it. */
export function nameSelected(selector: string): string {
  const names = requirements(selector).flatMap((requirement) => {
    const [, label, operator, value = ""] = FIELD.exec(requirement.trim()) ?? [];
    return label === "metadata.name" && operator !== "!=" ? [value] : [];
  });
  return names[0] ?? "";
}

function fieldReader(type: ResourceType, label: string): (object: KubeObject) => string {
  if (label === "metadata.name") return (object) => object.metadata.name;
  if (label === "metadata.namespace" && type.namespaced) return (object) => object.metadata.namespace ?? "";
  const read = type.selectable[label];
  if (read !== undefined) return read;
  const known =
    type.custom === undefined ? `field label not supported: ${label}` : `field label not supported: ${label}`;
  throw badRequest(known);
}

/** The selectors of a request; `undefined` when it has none. */
export function matcherOf(call: Pick<Call, "query" | "type" | "name">): Matcher | undefined {
  const tests: Matcher[] = [];
  const labels = call.query.get("labelSelector") ?? "";
  const fields = call.query.get("fieldSelector") ?? "";
  if (labels !== "") tests.push(labelMatcher(labels));
  if (fields !== "") tests.push(fieldMatcher(call.type, fields));
  if (tests.length === 0) return undefined;
  return (object) => tests.every((test) => test(object));
}
