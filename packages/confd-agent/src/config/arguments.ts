/** The command line: flags with one dash or two, and the backend as a word. */
import { UsageError } from "../errors.ts";
import { ABSENT_BACKENDS, BACKENDS, FLAGS, type FlagSpec, type FlagValue } from "./flags.ts";
import { parseText } from "./values.ts";

/** Flags that were given, by name. */
export type Given = ReadonlyMap<string, FlagValue>;

const SPECS: ReadonlyMap<string, FlagSpec> = new Map(FLAGS.map((spec) => [spec.name, spec]));

/** Reads the arguments; throws a {@link UsageError} that names the flag and the value. */
export function parseArguments(args: readonly string[]): Given {
  const given = new Map<string, FlagValue>();
  const words: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") break;
    if (arg === "-" || !arg.startsWith("-")) {
      words.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    const name = arg.slice(arg.startsWith("--") ? 2 : 1, equals === -1 ? undefined : equals);
    const value = equals === -1 ? undefined : arg.slice(equals + 1);
    const spec = SPECS.get(name === "h" ? "help" : name);
    if (spec === undefined) throw new UsageError(`flag provided but not defined: -${name}`);
    let text = value;
    if (text === undefined && spec.type === "bool") text = "true";
    if (text === undefined) {
      at += 1;
      text = args[at];
      if (text === undefined) throw new UsageError(`flag needs an argument: -${name}`);
    }
    const parsed = parseText(spec, text);
    if ("problem" in parsed) throw new UsageError(`flag -${name}: ${parsed.problem}`);
    const before = given.get(spec.name);
    const isMore = spec.type === "list" && Array.isArray(before);
    given.set(spec.name, isMore ? [...before, ...(parsed.value as string[])] : parsed.value);
  }
  addBackendWord(given, words);
  return given;
}

function addBackendWord(given: Map<string, FlagValue>, words: readonly string[]): void {
  const [word, extra] = words;
  if (word === undefined) return;
  if (![...BACKENDS, ...ABSENT_BACKENDS].includes(word)) {
    throw new UsageError(
      `unexpected argument ${JSON.stringify(word)}: flags begin with -, and the only word is a backend`,
    );
  }
  if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)} after ${word}`);
  const flag = given.get("backend");
  if (flag !== undefined && flag !== word)
    throw new UsageError(`backend ${word} and -backend ${flag} contradict each other`);
  given.set("backend", word);
}

/** The help text. */
export function usage(): string {
  const lines = FLAGS.map((spec) => {
    const type = typeof spec.type === "string" ? spec.type : spec.type.oneOf.join("|");
    const placeholder = spec.type === "bool" ? "" : ` ${type}`;
    return `  -${spec.name}${placeholder}\n    \t${spec.usage}${shownDefault(spec)}`;
  });
  return `Usage: quartet-confd [BACKEND] [FLAGS]\n${lines.join("\n")}\n`;
}

function shownDefault({ type, default: value }: FlagSpec): string {
  if (value === "" || value === false || (Array.isArray(value) && value.length === 0)) return "";
  return ` (default ${type === "duration" ? `${Number(value) / 1000}s` : value})`;
}
