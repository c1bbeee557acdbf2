/** Label and field selectors, evaluated here for objects that have not come back through the watch yet. */
import type { DeepReadonly, KubeObject } from "../object.ts";

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

const SET_REQUIREMENT = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const EQUALITY = /^([^\s!=]+)\s*(==|=|!=)(.*)$/s;

/** Predicate for the objects that both selectors let through. Throws for a selector that it cannot read. */
export function createMatcher(selectors: {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}): (object: DeepReadonly<KubeObject>) => boolean {
  const labels = splitTopLevel(selectors.labelSelector ?? "").map(labelRequirement);
  const fields = splitTopLevel(selectors.fieldSelector ?? "").map(fieldRequirement);
  return (object) => {
    const own = object.metadata.labels ?? {};
    return labels.every((matches) => matches(own)) && fields.every((matches) => matches(object));
  };
}

/** True when an object carries all the given labels. */
export function hasLabels(object: DeepReadonly<KubeObject>, labels: Labels): boolean {
  const own = object.metadata.labels;
  return Object.entries(labels).every(([name, value]) => own?.[name] === value);
}

function labelRequirement(text: string): Requirement {
  const set = SET_REQUIREMENT.exec(text);
  if (set !== null) {
    const [, name = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    const isIn = (labels: Labels): boolean => labels[name] !== undefined && values.includes(labels[name]);
    return operator === "in" ? isIn : (labels) => !isIn(labels);
  }
  const equality = EQUALITY.exec(text);
  if (equality !== null) {
    const [, name = "", operator, rest = ""] = equality;
    const value = rest.trim();
    return operator === "!=" ? (labels) => labels[name] !== value : (labels) => labels[name] === value;
  }
  const absent = text.startsWith("!");
  const name = absent ? text.slice(1).trim() : text;
  if (/[\s()!=]/.test(name)) throw unreadable("label", text);
  return (labels) => (labels[name] === undefined) === absent;
}

/** Supported fields are paths into the object; an absent field reads as the empty string, as on the server. */
function fieldRequirement(text: string): (object: DeepReadonly<KubeObject>) => boolean {
  const equality = EQUALITY.exec(text);
  if (equality === null) throw unreadable("field", text);
  const [, path = "", operator, rest = ""] = equality;
  const value = rest.trim();
  const steps = path.split(".");
  return (object) => {
    let at: unknown = object;
    for (const name of steps) at = (at as Record<string, unknown> | null | undefined)?.[name];
    const actual = at === undefined || at === null ? "" : String(at);
    return (actual === value) === (operator !== "!=");
  };
}

/** Splits at commas outside parentheses. */
function splitTopLevel(selector: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let inside = false;
  for (let at = 0; at <= selector.length; at++) {
    const char = selector[at];
    if (char === "(") inside = true;
    else if (char === ")") inside = false;
    else if (char === undefined || (char === "," && !inside)) {
      parts.push(selector.slice(from, at).trim());
      from = at + 1;
    }
  }
  return parts.filter((part) => part !== "");
}

function unreadable(kind: string, text: string): Error {
  return new Error(
    `${kind} selector: cannot read ${JSON.stringify(text)}; use name=value, name!=value or a set`,
  );
}
