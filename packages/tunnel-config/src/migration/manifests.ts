/** Objects of a file, and the text that a migration makes of them. */
import { parseAllDocuments, stringify } from "yaml";
import { isMap } from "../desired/document.ts";

/** An object of a file: of what it holds nothing is known. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What became of one object. */
export interface Migrated {
  /** Such as `TunnelBinding web/shop`. */
  readonly from: string;
  readonly objects: readonly object[];
  /** What was not carried over and why, and what is to be done. */
  readonly notes: readonly string[];
}

/** The objects of a YAML or JSON text, those of lists among them; throws for a text that is none. */
export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`no YAML: ${error.message}`);
    return expand(document.toJS());
  });
}

function expand(value: unknown): Manifest[] {
  if (value === null || value === undefined) return [];
  if (!isMap(value) || typeof value.kind !== "string")
    throw new Error("a document is no object of Kubernetes: it has no kind");
  const { apiVersion, kind, metadata, items } = value;
  if (kind.endsWith("List") && Array.isArray(items)) return items.flatMap(expand);
  const { name, namespace } = isMap(metadata) ? metadata : {};
  return [
    { apiVersion: textOf(apiVersion), kind, namespace: textOf(namespace), name: textOf(name), body: value },
  ];
}

/** YAML of all objects. Comments before them say of what they are made, and what was not carried over. */
export function migratedText(all: readonly Migrated[]): string {
  const parts = all.map(({ from, objects, notes }) => {
    const head = [from, ...notes.map((note) => `  ${note}`)];
    const comments = head.map((line) => `# ${oneLine(line)}\n`).join("");
    return `${comments}${objects.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`).join("")}`;
  });
  const made = all.reduce((sum, { objects }) => sum + objects.length, 0);
  const noted = all.filter(({ notes }) => notes.length > 0).length;
  return `${parts.join("")}# objects read: ${all.length}, made: ${made}, with remarks: ${noted}\n`;
}

/** Names of an object, for comments. */
export function titleOf({ kind, namespace, name }: Manifest): string {
  return `${kind} ${[namespace, name].filter((part) => part !== "").join("/")}`;
}

/** Labels or annotations without those by which programs keep book of an object. */
export function ownMarks(marks: unknown, foreign: string): Record<string, string> | undefined {
  const own = Object.entries(isMap(marks) ? marks : {}).filter(
    ([key, value]) =>
      typeof value === "string" && !key.startsWith(foreign) && !key.startsWith("kubectl.kubernetes.io/"),
  );
  return own.length === 0 ? undefined : (Object.fromEntries(own) as Record<string, string>);
}

/** The members of a map that are known; of each other one a note says that it is left out. */
export function knownMembers(
  value: unknown,
  known: readonly string[],
  where: string,
  notes: string[],
): Record<string, unknown> {
  const entries = Object.entries(isMap(value) ? value : {}).filter(([, inner]) => inner !== undefined);
  for (const [key] of entries)
    if (!known.includes(key)) notes.push(`not carried over: ${where}.${key} has no counterpart`);
  return Object.fromEntries(entries.filter(([key]) => known.includes(key)));
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A comment never ends before its line does. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}
