/** Differences between a recorded and a live value, each with its path. */
import { isDeepStrictEqual } from "node:util";
import { canonicalQuantity } from "../apiserver-double/schemas/quantity.ts";
import type { Json } from "./recorded.ts";

export interface Difference {
  /** For example `StatefulSet/demo spec.template.spec.containers[demo].image`. */
  readonly path: string;
  /** `undefined`: absent. */
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Fields by which the elements of a list are told apart, the first that all of them have. */
const LABELS = ["name", "mountPath", "containerPort", "port", "ip"];
/** Maps whose members are quantities. */
const QUANTITIES = /\.(limits|requests|overhead)$/;

/** Texts that stand for what is not recorded: the MySQL script, shell scripts, and generated values. */
const PLACEHOLDERS = new Set(["SQL", "SCRIPT", "<any>"]);
/** Maps of which an absent one is like an empty one. */
const METADATA = /\.(annotations|labels)$/;

/** All differences; the order of members does not count, that of list elements without a label does. */
export function differences(expected: unknown, actual: unknown, path: string): Difference[] {
  if (
    METADATA.test(path) &&
    (expected ?? actual) !== undefined &&
    (expected === undefined || actual === undefined)
  )
    return differences(expected ?? {}, actual ?? {}, path);
  if (isMap(expected) && isMap(actual)) {
    const members = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return members.flatMap((member) => {
      const [left, right] = [expected[member], actual[member]];
      if (QUANTITIES.test(path) && sameQuantity(left, right)) return [];
      return differences(left, right, join(path, member));
    });
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const label = LABELS.find((field) => labelled(expected, field) && labelled(actual, field));
    if (label !== undefined) return listDifferences(byLabel(expected, label), byLabel(actual, label), path);
  }
  return matches(expected, actual) ? [] : [{ path, expected, actual }];
}

function sameQuantity(left: unknown, right: unknown): boolean {
  const [one, other] = [canonicalQuantity(left), canonicalQuantity(right)];
  return one !== undefined && one === other;
}

/** Equal, or a placeholder of the corpus and some text. */
function matches(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected) && Array.isArray(actual))
    return expected.length === actual.length && expected.every((item, index) => matches(item, actual[index]));
  const free = typeof expected === "string" && PLACEHOLDERS.has(expected);
  return free ? typeof actual === "string" && actual !== "" : isDeepStrictEqual(expected, actual);
}

function listDifferences(expected: Map<string, Json>, actual: Map<string, Json>, path: string): Difference[] {
  const labels = [...new Set([...expected.keys(), ...actual.keys()])];
  return labels.flatMap((label) => differences(expected.get(label), actual.get(label), `${path}[${label}]`));
}

function labelled(list: readonly unknown[], field: string): boolean {
  return list.every((item) => isMap(item) && item[field] !== undefined);
}

/** Elements by label; the second of the same label is `label#2`. */
function byLabel(list: readonly Json[], field: string): Map<string, Json> {
  const result = new Map<string, Json>();
  for (const item of list) {
    const label = String(item[field]);
    let unique = label;
    for (let count = 2; result.has(unique); count += 1) unique = `${label}#${count}`;
    result.set(unique, item);
  }
  return result;
}

function join(path: string, member: string): string {
  const shown = /^[\w-]+$/.test(member) ? `.${member}` : `[${member}]`;
  return path.endsWith(" ") || path === "" ? path + member : path + shown;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Longest value that is shown whole, in characters. */
const SHOWN = 400;

/** A difference in three lines. */
export function describe({ path, expected, actual }: Difference): string {
  return `${path}\n  expected ${shown(expected)}\n  found    ${shown(actual)}`;
}

function shown(value: unknown): string {
  if (value === undefined) return "(absent)";
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
}
