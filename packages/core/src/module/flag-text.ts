/** Values of flags from their texts. Each reader throws an `Error` that says what is wrong with the text, and the remedy. */
import { parseNamespace } from "../helpers/names.ts";
import { parseDuration } from "./duration.ts";
import type { FlagValue, FlagValues, ModuleFlag } from "./flags.ts";

/** What a number may be; all included. */
export interface NumberLimits {
  readonly integer?: boolean;
  readonly min?: number;
  readonly max?: number;
}

/** Value of a module's flag. */
export function readModuleFlag(flag: ModuleFlag, text: string): FlagValue {
  switch (flag.type) {
    case "string":
      return text;
    case "boolean":
      return parseBoolean(text);
    case "number":
      return parseNumber(text, flag);
    case "duration":
      return parseDurationFrom(text, 0);
    case "enum":
      return parseOneOf(text, flag.values);
    case "list":
      return flag.format === "namespace" ? parseNamespaces(text) : splitList(text);
    case "namespace":
      return text && parseNamespace(text);
  }
}

/** What flags are unless somebody says otherwise, by name. */
export function defaultFlags(flags: readonly ModuleFlag[]): FlagValues {
  return Object.fromEntries(flags.map((flag) => [flag.name, readModuleFlag(flag, flag.default)]));
}

/** Entries of a comma-separated text, without blanks around them and without empty ones. */
export function splitList(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** Namespaces of a comma-separated text, each once. */
export function parseNamespaces(text: string): string[] {
  return [...new Set(splitList(text).map(parseNamespace))];
}

/** `true` or `false`, nothing else. */
export function parseBoolean(text: string): boolean {
  if (text !== "true" && text !== "false") {
    throw new Error(`${JSON.stringify(text)} is not a boolean: write true or false`);
  }
  return text === "true";
}

/** A finite number within the limits. */
export function parseNumber(text: string, limits: NumberLimits): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || (limits.integer && !Number.isInteger(value))) {
    throw new Error(`${JSON.stringify(text)} is not a ${limits.integer ? "whole " : ""}number`);
  }
  if (limits.min !== undefined && value < limits.min) {
    throw new Error(`${text} is too low: it must be at least ${limits.min}`);
  }
  if (limits.max !== undefined && value > limits.max) {
    throw new Error(`${text} is too high: it must be at most ${limits.max}`);
  }
  return value;
}

/** Milliseconds of a duration that is not shorter than `min`. */
export function parseDurationFrom(text: string, min: number | undefined): number {
  const ms = parseDuration(text);
  if (min !== undefined && ms < min) {
    throw new Error(`${JSON.stringify(text)} is too short: it must be at least ${min}ms`);
  }
  return ms;
}

/** The text, which is one of those that are allowed. */
export function parseOneOf<const T extends string>(text: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === text);
  if (found === undefined) {
    throw new Error(`${JSON.stringify(text)} is not known: write one of ${allowed.join(", ")}`);
  }
  return found;
}
