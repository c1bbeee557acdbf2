/** Label selectors of nodes and pods: what they match, and what is wrong with them (DSP-304, 501 to 504). */
import type { LabelSelector, Labels, SelectorRequirement } from "../api.ts";
import { isLabelKey, isLabelValue } from "./label-syntax.ts";

export type LabelMatcher = (labels: Labels) => boolean;

/** A mistake in a selector; `path` leads from the selector to it. */
export interface SelectorMistake {
  readonly path: string;
  readonly message: string;
}

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];
const VALUE_OPERATORS = ["In", "NotIn"];
/** Length to which a text of the user is cut in a message. */
const SHOWN = 80;

/** All mistakes of a selector; none for a selector that can be compiled. */
export function selectorMistakes(selector: unknown): SelectorMistake[] {
  if (!isObject(selector)) return [{ path: "", message: "must be an object" }];
  const { matchLabels = {}, matchExpressions = [], ...others } = selector;
  return [
    ...Object.keys(others).map((key) => ({ path: `.${key}`, message: "unknown field" })),
    ...labelMistakes(matchLabels),
    ...expressionMistakes(matchExpressions),
  ];
}

/**
 * The predicate of a selector; `undefined` for one that has mistakes, which matches nothing. An absent selector matches
 * nothing, an empty one everything.
 */
export function compileSelector(selector: LabelSelector | null | undefined): LabelMatcher | undefined {
  if (selector === null || selector === undefined) return () => false;
  if (selectorMistakes(selector).length > 0) return undefined;
  const equalities = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): LabelMatcher =>
      (labels) =>
        labelOf(labels, key) === value,
  );
  const requirements = (selector.matchExpressions ?? []).map(compileRequirement);
  const all = [...equalities, ...requirements];
  return (labels) => all.every((matches) => matches(labels));
}

function compileRequirement({ key, operator, values = [] }: SelectorRequirement): LabelMatcher {
  const listed = new Set(values);
  const isListed: LabelMatcher = (labels) => {
    const value = labelOf(labels, key);
    return value !== undefined && listed.has(value);
  };
  switch (operator) {
    case "In":
      return isListed;
    case "NotIn":
      return (labels) => !isListed(labels);
    case "Exists":
      return (labels) => labelOf(labels, key) !== undefined;
    default:
      return (labels) => labelOf(labels, key) === undefined;
  }
}

function labelMistakes(matchLabels: unknown): SelectorMistake[] {
  const path = ".matchLabels";
  if (!isObject(matchLabels)) return [{ path, message: "must be an object" }];
  return Object.entries(matchLabels).flatMap(([key, value]) => [
    ...keyMistakes(key, path),
    ...valueMistakes(value, `${path}[${shown(key)}]`),
  ]);
}

function expressionMistakes(expressions: unknown): SelectorMistake[] {
  const list = ".matchExpressions";
  if (!Array.isArray(expressions)) return [{ path: list, message: "must be a list" }];
  return expressions.flatMap((expression: unknown, index) => {
    const path = `${list}[${index}]`;
    if (!isObject(expression)) return [{ path, message: "must be an object" }];
    const { key, operator, values } = expression;
    const named = typeof key === "string" ? keyMistakes(key, `${path}.key`) : [required(`${path}.key`)];
    if (typeof operator !== "string") return [...named, required(`${path}.operator`)];
    return [...named, ...operandMistakes(operator, values, path)];
  });
}

function operandMistakes(operator: string, values: unknown, path: string): SelectorMistake[] {
  if (!OPERATORS.includes(operator)) {
    return [
      { path: `${path}.operator`, message: `${shown(operator)} is none of ${OPERATORS.join(", ")}: use one` },
    ];
  }
  const list = values ?? [];
  if (!Array.isArray(list)) return [{ path: `${path}.values`, message: "must be a list" }];
  if (!VALUE_OPERATORS.includes(operator)) {
    return list.length === 0
      ? []
      : [{ path: `${path}.values`, message: `may not be set when operator is ${operator}: remove them` }];
  }
  if (list.length === 0) {
    return [{ path: `${path}.values`, message: `must be given when operator is ${operator}` }];
  }
  return list.flatMap((value: unknown, index) => valueMistakes(value, `${path}.values[${index}]`));
}

function keyMistakes(key: string, path: string): SelectorMistake[] {
  if (isLabelKey(key)) return [];
  return [{ path, message: `${shown(key)} is no label key: use name or domain/name` }];
}

function valueMistakes(value: unknown, path: string): SelectorMistake[] {
  if (typeof value !== "string") return [{ path, message: "must be a string" }];
  if (isLabelValue(value)) return [];
  return [
    {
      path,
      message: `${shown(value)} is no label value: at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends`,
    },
  ];
}

function required(path: string): SelectorMistake {
  return { path, message: "must be given" };
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}

/** The value of a label that the object itself holds. */
function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
