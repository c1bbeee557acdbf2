/** TOML files, with errors that say where. */
import { parse, TomlError } from "smol-toml";
import { ConfigError } from "../errors.ts";

export type Table = Readonly<Record<string, unknown>>;

/** Parses a file's text; throws a {@link ConfigError} with file, line, column and reason. */
export function parseTomlFile(file: string, text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new ConfigError(`${file}:${error.line}:${error.column}: ${reason}`);
  }
}

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Names compare without case, and `_` is `-`. */
export const normalName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/** The known name that is nearest to a mistyped one, if one is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(name.slice(0, 64), candidate) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.max(2, Math.floor(name.length / 3))
    ? best.candidate
    : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
