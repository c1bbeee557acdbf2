/** Reading of JSON Lines with errors that say where, what and how to mend it. */
import type { Json, RecordedObject } from "./recorded.ts";

/** Lines that do not have the format: one message a bad line, each beginning with `file:line`. */
export class CorpusFormatError extends Error {}

/** A problem of one line, without its place. */
class LineError extends Error {}

/** Reads fields of a JSON object; a field that is not as it should be ends the line's reading. */
export interface Fields {
  readonly value: Json;
  text(field: string): string;
  /** A list of texts; absent reads as empty. */
  texts(field: string): string[];
  flag(field: string): boolean;
  oneOf<T extends string>(field: string, known: readonly T[]): T;
  /** An integer from 0 to below `end`. */
  index(field: string, end: number): number;
  map(field: string, meaning: string): Fields;
  list(field: string, meaning: string): Fields[];
  /** A Kubernetes object. */
  object(field: string): RecordedObject;
  /** This value itself as a Kubernetes object. */
  whole(): RecordedObject;
  fail(field: string, problem: string, remedy: string): never;
}

/** One result a line that is not empty. Throws a {@link CorpusFormatError} that names every bad line. */
export function readLines<T>(text: string, file: string, read: (line: Fields, at: string) => T): T[] {
  const problems: string[] = [];
  const results = text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const at = `${file}:${index + 1}`;
    try {
      return [read(fieldsOf(parse(line), ""), at)];
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      problems.push(`${at}: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw new CorpusFormatError(problems.join("\n"));
  return results;
}

function parse(line: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new LineError(`not JSON (${(error as Error).message}); write one complete JSON object a line`);
  }
  if (!isMap(value)) throw new LineError("not a JSON object; write one complete JSON object a line");
  return value;
}

function fieldsOf(value: Json, path: string): Fields {
  const pathOf = (field: string): string => (path === "" ? field : field === "" ? path : `${path}.${field}`);
  const fail = (field: string, problem: string, remedy: string): never => {
    throw new LineError(`${pathOf(field)}: ${problem}; ${remedy}`);
  };
  const need = <T>(field: string, test: (found: unknown) => found is T, remedy: string): T => {
    const found = value[field];
    if (found === undefined) return fail(field, "is missing", remedy);
    return test(found) ? found : fail(field, `cannot be ${shown(found)}`, remedy);
  };
  const fields: Fields = {
    value,
    fail,
    text: (field) => need(field, isName, "give a text that is not empty"),
    texts(field) {
      if (value[field] === undefined) return [];
      return need(field, isTexts, "give a list of texts, or leave it out");
    },
    flag: (field) => need(field, isFlag, "give true or false"),
    oneOf<T extends string>(field: string, known: readonly T[]): T {
      const is = (found: unknown): found is T => known.some((name) => name === found);
      return need(field, is, `known are ${known.join(", ")}`);
    },
    index(field, end) {
      const is = (found: unknown): found is number =>
        typeof found === "number" && Number.isInteger(found) && found >= 0 && found < end;
      return need(field, is, `give the number of a step, 0 to ${end - 1}`);
    },
    map: (field, meaning) => fieldsOf(need(field, isMap, `give a JSON object: ${meaning}`), pathOf(field)),
    list(field, meaning) {
      const items = need(field, Array.isArray, `give a list: ${meaning}`) as unknown[];
      return items.map((item, index) =>
        isMap(item)
          ? fieldsOf(item, `${pathOf(field)}[${index}]`)
          : fail(`${field}[${index}]`, `cannot be ${shown(item)}`, "give a JSON object"),
      );
    },
    object: (field) => fieldsOf(need(field, isMap, "give a Kubernetes object"), pathOf(field)).whole(),
    whole() {
      fields.text("apiVersion");
      fields.text("kind");
      fields.map("metadata", "with a name").text("name");
      return value as RecordedObject;
    },
  };
  return fields;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

/** A value, short enough for a message. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
