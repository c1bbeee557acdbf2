/** The difference of two objects as lines for people. Secret values and long texts are not shown. */
import { createHash } from "node:crypto";
import { sameJson } from "../client/merge-diff.ts";
import { isTooDeep, NestingError } from "../nesting.ts";
import type { Kind } from "../object.ts";
import { isSecretName, REDACTED, redactText } from "../observe/redact.ts";

/** One field that differs. */
export interface Difference {
  /** For example `~ spec.replicas: 2 -> 3`; `+` for a new field, `-` for one that goes. */
  readonly line: string;
  /** Tells two differences of equal line apart without holding any value; the same for all hidden values. */
  readonly mark: string;
}

/** Longest value that is shown as it is; longer ones, and texts of several lines, are described. */
const MAX_VALUE = 120;
/**
 * Environment variables whose literal value is shown. Any other may be a password, whatever it is called: this list grows
 * by names whose values cannot be one.
 */
const HARMLESS_VARIABLES: ReadonlySet<string> = new Set([
  ...["MODE", "NACOS_SERVERS", "NACOS_REPLICAS", "PREFER_HOST_MODE", "FUNCTION_MODE", "EMBEDDED_STORAGE"],
  ...["SPRING_DATASOURCE_PLATFORM", "MYSQL_SERVICE_HOST", "MYSQL_SERVICE_PORT", "MYSQL_SERVICE_DB_NAME"],
  ...["NACOS_AUTH_ENABLE", "NACOS_AUTH_CACHE_ENABLE", "NACOS_AUTH_TOKEN_EXPIRE_SECONDS"],
  ...["JVM_XMS", "JVM_XMX", "JVM_XMN", "DOMAIN_NAME", "TZ", "LANG"],
]);
/** Fields that the server keeps and that change with every write. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  "resourceVersion",
  "managedFields",
  "generation",
  "uid",
  "creationTimestamp",
  "selfLink",
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Fields in which an object of this kind differs; `before` is `undefined` for a new object. Status and the server's own
 * bookkeeping are left out.
 */
export function differences(
  kind: Pick<Kind, "group" | "kind">,
  before: unknown,
  after: unknown,
): Difference[] {
  const secret = kind.group === "" && kind.kind === "Secret";
  const found: Difference[] = [];
  const [old, next] = [withoutServerFields(before), withoutServerFields(after)];
  if (isTooDeep(old) || isTooDeep(next)) {
    return [{ line: `~ (not compared: ${new NestingError().message})`, mark: "too deep" }];
  }
  for (const name of namesOf(old, next)) {
    const hidden = secret && (name === "data" || name === "stringData");
    if (name === "metadata" && secret) {
      // kubectl keeps a copy of the whole object in an annotation.
      for (const part of namesOf(fieldsOf(old.metadata), fieldsOf(next.metadata))) {
        const [a, b] = [fieldsOf(old.metadata)[part], fieldsOf(next.metadata)[part]];
        compare(a, b, { path: `metadata.${part}`, hidden: part === "annotations" }, found);
      }
    } else compare(old[name], next[name], { path: segment("", name), hidden }, found);
  }
  return found;
}

interface Place {
  readonly path: string;
  readonly hidden: boolean;
}

function compare(before: unknown, after: unknown, place: Place, found: Difference[]): void {
  if (sameJson(before, after)) return;
  if (isMap(before ?? after) && isMap(after ?? before)) {
    const [old, next] = [fieldsOf(before), fieldsOf(after)];
    const names = namesOf(old, next);
    if (names.length > 0) {
      const variable = `${next.name ?? old.name ?? ""}`;
      for (const name of names) {
        // Environment variables, and headers of probes, are pairs of name and value.
        const literal = name === "value" && variable !== "" && !HARMLESS_VARIABLES.has(variable);
        const hidden = place.hidden || literal || (isSecretName(name) && !isMap(next[name] ?? old[name]));
        compare(old[name], next[name], { path: segment(place.path, name), hidden }, found);
      }
      return;
    }
  }
  if (compareLists(before, after, place, found)) return;
  found.push(leaf(before, after, place));
}

/** Compares lists of objects item by item, by name where all have one; false for everything else. */
function compareLists(before: unknown, after: unknown, place: Place, found: Difference[]): boolean {
  const [old, next] = [before ?? [], after ?? []];
  if (!Array.isArray(old) || !Array.isArray(next)) return false;
  const all = [...old, ...next];
  if (all.length === 0 || !all.every(isMap)) return false;
  const named = [old, next].every((list) => {
    const names = list.map((item: Fields) => item.name);
    return names.every((name) => typeof name === "string") && new Set(names).size === names.length;
  });
  const keyed = (list: readonly Fields[]): Map<string, Fields> =>
    new Map(list.map((item, index) => [named ? `${item.name}` : `${index}`, item]));
  const [from, to] = [keyed(old), keyed(next)];
  const start = found.length;
  for (const key of new Set([...from.keys(), ...to.keys()])) {
    compare(from.get(key), to.get(key), { ...place, path: `${place.path}[${key}]` }, found);
  }
  if (found.length === start) found.push({ line: `~ ${place.path}: order`, mark: hash(after) });
  return true;
}

function leaf(before: unknown, after: unknown, { path, hidden }: Place): Difference {
  const mark = hidden ? "hidden" : hash(after);
  const show = (value: unknown): string => (hidden ? REDACTED : shown(value));
  if (before === undefined || before === null) return { line: `+ ${path}: ${show(after)}`, mark };
  if (after === undefined || after === null) return { line: `- ${path}: ${show(before)}`, mark };
  if (!hidden && isLong(before) && isLong(after))
    return { line: `~ ${path}: ${textChange(before, after)}`, mark };
  return { line: `~ ${path}: ${show(before)} -> ${show(after)}`, mark };
}

function shown(value: unknown): string {
  if (isLong(value)) return `text of ${linesOf(value).length} lines`;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // Cut afterwards: half a secret would not be recognised.
  const clean = redactText(text);
  return clean.length <= MAX_VALUE ? clean : `${clean.slice(0, MAX_VALUE)}…`;
}

const isLong = (value: unknown): value is string =>
  typeof value === "string" && (value.length > MAX_VALUE || value.includes("\n"));

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** Texts may hold anything, so only their size is told. */
function textChange(before: string, after: string): string {
  const [old, next] = [linesOf(before), linesOf(after)];
  const [oldLines, nextLines] = [new Set(old), new Set(next)];
  const added = next.filter((line) => !oldLines.has(line)).length;
  const removed = old.filter((line) => !nextLines.has(line)).length;
  return `text of ${next.length} lines, ${added} added, ${removed} removed`;
}

function withoutServerFields(object: unknown): Fields {
  const { status: _status, metadata, ...fields } = fieldsOf(object);
  const kept = Object.entries(fieldsOf(metadata)).filter(([name]) => !BOOKKEEPING.has(name));
  return kept.length === 0 ? fields : { metadata: Object.fromEntries(kept), ...fields };
}

/** `a.b`, or `a["x.y"]` for a name that is none of a path. */
function segment(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

const isMap = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Fields => (isMap(value) ? value : {});

const namesOf = (a: Fields, b: Fields): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];

const hash = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value ?? null))
    .digest("base64url")
    .slice(0, 16);
