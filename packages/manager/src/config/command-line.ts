/** The command line: positional words and flags, nothing interpreted yet. */
import { parseArgs } from "node:util";
import { ConfigurationError, closest, didYouMean } from "@quartet/core";
import type { FlagSpec } from "./flags.ts";

/** A parsed command line. Of a flag given twice the last one counts. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly flags: ReadonlyMap<string, string>;
}

/** Splits arguments into words and flags; an unknown flag or a missing value is a `ConfigurationError`. */
export function parseCommandLine(args: readonly string[], specs: readonly FlagSpec[]): CommandLine {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  const takesBare = (spec: FlagSpec): boolean => spec.type === "boolean" || spec.bare === true;
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      specs.map((spec) => [
        spec.name,
        { type: takesBare(spec) ? ("boolean" as const) : ("string" as const) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const flags = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const spec = token.rawName.startsWith("--") ? byName.get(token.name) : undefined;
    if (spec === undefined) throw unknownFlag(token.rawName, specs);
    if (token.value === undefined && !takesBare(spec)) {
      throw new ConfigurationError(`--${spec.name} needs a value: ${spec.help}`);
    }
    flags.set(spec.name, token.value ?? "true");
  }
  return { words, flags };
}

function unknownFlag(rawName: string, specs: readonly FlagSpec[]): ConfigurationError {
  const name = rawName.replace(/^-+/, "");
  const close = closest(
    name,
    specs.map((spec) => spec.name),
  ).map((candidate) => `--${candidate}`);
  return new ConfigurationError(`unknown flag ${rawName}${didYouMean(close) || "; --help lists all"}`);
}
