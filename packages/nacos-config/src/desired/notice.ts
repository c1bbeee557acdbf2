/** Things that users should learn from, as Kubernetes events. No text holds a value of a property or Secret. */

export interface Notice {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

export function warning(reason: string, note: string): Notice {
  return { type: "Warning", reason, note };
}

export function normal(reason: string, note: string): Notice {
  return { type: "Normal", reason, note };
}

/** Key names that are listed before the rest is only counted. */
const MAX_LISTED = 20;

/** Characters of a name that are shown. */
const MAX_NAME_LENGTH = 120;

/** `a, b, c`, sorted; of more than 20 names the rest is counted, and long ones are cut. */
export function listNames(names: Iterable<string>): string {
  const sorted = [...new Set(names)].sort();
  const listed = sorted.slice(0, MAX_LISTED).map(cut).join(", ");
  return sorted.length > MAX_LISTED ? `${listed} and ${sorted.length - MAX_LISTED} more` : listed;
}

function cut(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
}
