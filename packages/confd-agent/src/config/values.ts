/** Values of settings from text and from TOML. */
import { parseDuration, shownDuration } from "./duration.ts";
import type { FlagSpec, FlagValue } from "./flags.ts";

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "true", "True", "TRUE"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "false", "False", "FALSE"]);

/** A value, or what is wrong with it. */
export type Parsed = { readonly value: FlagValue } | { readonly problem: string };

/** Reads a value as a flag or a variable has it. */
export function parseText(spec: FlagSpec, text: string): Parsed {
  const shown = spec.secret === true ? "" : ` ${JSON.stringify(text)}`;
  switch (spec.type) {
    case "string":
      return { value: text };
    case "list":
      return { value: text.split(",").filter((item) => item !== "") };
    case "bool":
      if (TRUE.has(text)) return { value: true };
      return FALSE.has(text)
        ? { value: false }
        : { problem: `invalid boolean value${shown}: use true or false` };
    case "int":
      return /^-?[0-9]{1,15}$/.test(text)
        ? inRange(spec, Number(text))
        : { problem: `invalid number${shown}` };
    case "duration": {
      const milliseconds = parseDuration(text);
      if (milliseconds === undefined) {
        return { problem: `invalid duration${shown}: use 500ms, 1m30s or a number of seconds` };
      }
      return inRange(spec, milliseconds);
    }
    default:
      return spec.type.oneOf.includes(text)
        ? { value: text }
        : { problem: `invalid value${shown}: use ${spec.type.oneOf.join(", ")}` };
  }
}

function inRange(spec: FlagSpec, value: number): Parsed {
  if (spec.name === "interval" && value < 1000) return { problem: "interval must be at least 1s" };
  const [least, most] = spec.range ?? [0, Number.POSITIVE_INFINITY];
  if (value >= least && value <= most) return { value };
  const show = spec.type === "duration" ? shownDuration : String;
  return { problem: `${show(value)} is out of range: use ${show(least)} to ${show(most)}` };
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  bool: "true or false",
  int: "a number",
  duration: "a duration or a number of seconds",
  list: "a list of strings",
};

/** Reads a value as TOML gives it. */
export function parseToml(spec: FlagSpec, value: unknown): Parsed {
  const expected = EXPECTED[typeof spec.type === "string" ? spec.type : "string"]!;
  const mismatch = { problem: `expected ${expected}, found ${typeName(value)}` };
  switch (spec.type) {
    case "bool":
      return typeof value === "boolean" ? { value } : mismatch;
    case "int":
      return typeof value === "number" && Number.isInteger(value) ? inRange(spec, value) : mismatch;
    case "list":
      return Array.isArray(value) && value.every((item) => typeof item === "string") ? { value } : mismatch;
    case "duration":
      if (typeof value === "number") return parseText(spec, String(value));
      return typeof value === "string" ? parseText(spec, value) : mismatch;
    default:
      return typeof value === "string" ? parseText(spec, value) : mismatch;
  }
}

/** What a TOML value is, for messages. */
export function typeName(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "boolean") return "a boolean";
  return typeof value === "object" ? "a table" : `a ${typeof value}`;
}
