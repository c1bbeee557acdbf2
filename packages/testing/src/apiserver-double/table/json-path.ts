/** The part of kubectl's JSONPath that printer columns use: fields, indexes, wildcards, simple filters. */
import { isRecord } from "../json.ts";

type Step = (values: unknown[]) => unknown[];

const FIELD = /^\.?([A-Za-z0-9_-]+)/;
const QUOTED = /^\.?\[\s*(['"])(.*?)\1\s*\]/;
const ESCAPED = /^\.((?:[A-Za-z0-9_-]|\\.)+)/;
const INDEX = /^\[(-?\d+)\]/;
const WILDCARD = /^(?:\.\*|\[\*\])/;
const FILTER =
  /^\[\?\(\s*@((?:\.[A-Za-z0-9_-]+)+)\s*(==|!=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z0-9_.+-]+)\s*\)\]/;

function fieldStep(name: string): Step {
  return (values) =>
    values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []));
}

function filterStep(path: string, operator: string, literal: string): Step {
  const keys = path.split(".").slice(1);
  const wanted = /^["']/.test(literal) ? literal.slice(1, -1) : literal;
  return (values) =>
    values
      .flatMap((value) => (Array.isArray(value) ? value : []))
      .filter((element) => {
        let found: unknown = element;
        for (const key of keys) found = isRecord(found) ? found[key] : undefined;
        return (String(found) === wanted) === (operator === "==");
      });
}

function indexStep(index: number): Step {
  return (values) =>
    values.flatMap((value) => {
      const element = Array.isArray(value) ? value.at(index) : undefined;
      return element === undefined ? [] : [element];
    });
}

function wildcardStep(values: unknown[]): unknown[] {
  return values.flatMap((value) =>
    Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [],
  );
}

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`; `undefined` for what is not supported. */
export function compileJsonPath(path: string): ((value: unknown) => unknown[]) | undefined {
  const steps: Step[] = [];
  let rest = path.replace(/^\{/, "").replace(/\}$/, "").trim();
  while (rest !== "") {
    const filter = FILTER.exec(rest);
    const index = INDEX.exec(rest);
    const wildcard = WILDCARD.exec(rest);
    const quoted = QUOTED.exec(rest);
    const escaped = ESCAPED.exec(rest);
    const field = FIELD.exec(rest);
    let used: string;
    if (filter !== null) {
      steps.push(filterStep(filter[1]!, filter[2]!, filter[3]!));
      used = filter[0];
    } else if (index !== null) {
      steps.push(indexStep(Number(index[1])));
      used = index[0];
    } else if (wildcard !== null) {
      steps.push(wildcardStep);
      used = wildcard[0];
    } else if (quoted !== null) {
      steps.push(fieldStep(quoted[2]!));
      used = quoted[0];
    } else if (escaped !== null) {
      steps.push(fieldStep(escaped[1]!.replaceAll(/\\(.)/g, "$1")));
      used = escaped[0];
    } else if (field !== null) {
      steps.push(fieldStep(field[1]!));
      used = field[0];
    } else return undefined;
    rest = rest.slice(used.length);
  }
  return (value) => steps.reduce<unknown[]>((values, step) => step(values), [value]);
}
