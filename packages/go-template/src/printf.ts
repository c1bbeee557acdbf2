/** Go's `fmt`: values as text, with and without a format. All strings are byte strings. */
import {
  type Flags,
  formattedFloat,
  formattedInteger,
  formattedString,
  noFlags,
  padded,
  truncated,
} from "./scalar-format.ts";
import { elementsOf, type GoMap, unboxed, type Value } from "./types.ts";
import { decodeRune, encodeRune, RUNE_ERROR } from "./utf8.ts";

/** Largest width and precision that Go takes from a format. */
const MAX_WIDTH = 1_000_000;
/** How deep values may lie in each other to be printed; JSON that is read is bounded to this too. */
const MAX_DEPTH = 500;

type Argument = Value | undefined;

/** Go's `Sprint`: a space between two values of which neither is a string. */
export function sprint(args: readonly Argument[]): string {
  const parts: string[] = [];
  let afterString = false;
  for (const [index, boxed] of args.entries()) {
    const arg = unboxed(boxed);
    const isString = arg?.kind === "string";
    if (index > 0 && !isString && !afterString) parts.push(" ");
    parts.push(formatted(arg, "v", noFlags()));
    afterString = isString;
  }
  return parts.join("");
}

/** Go's `Sprintln`. */
export const sprintln = (args: readonly Argument[]): string =>
  `${args.map((arg) => formatted(unboxed(arg), "v", noFlags())).join(" ")}\n`;

/** Go's `Sprintf`: mistakes in the format become part of the text. */
export function sprintf(format: string, boxed: readonly Argument[]): string {
  const args = boxed.map(unboxed);
  const parts: string[] = [];
  const state = { next: 0, reordered: false, good: true, afterIndex: false };
  let at = 0;

  /** Reads `[n]` where one stands. */
  const argumentIndex = (): void => {
    state.afterIndex = false;
    if (format[at] !== "[") return;
    state.reordered = true;
    const close = format.indexOf("]", at + 1);
    if (close === -1 || format.length - at < 3) {
      state.good = false;
      at += 1;
      return;
    }
    const digits = format.slice(at + 1, close);
    at = close + 1;
    const index = /^[0-9]{1,7}$/.test(digits) ? Number(digits) - 1 : undefined;
    if (index !== undefined && index >= 0 && index < args.length) {
      state.next = index;
      state.afterIndex = true;
    } else {
      state.good = false;
      state.afterIndex = index !== undefined;
    }
  };
  const readNumber = (): number | undefined => {
    const from = at;
    let value = 0;
    while (at < format.length && format[at]! >= "0" && format[at]! <= "9") {
      if (value > MAX_WIDTH) {
        at = format.length;
        return undefined;
      }
      value = value * 10 + Number(format[at]);
      at += 1;
    }
    return at > from ? value : undefined;
  };
  /** The next argument as a width or precision. */
  const numberFromArgument = (): number | undefined => {
    if (state.next >= args.length) return undefined;
    const arg = args[state.next];
    state.next += 1;
    if (arg?.kind !== "int" && arg?.kind !== "uint8" && arg?.kind !== "uint16") return undefined;
    const value = Number(arg.data);
    return Math.abs(value) > MAX_WIDTH ? undefined : value;
  };
  const readFlags = (flags: Flags): void => {
    for (; at < format.length; at++) {
      const char = format[at];
      if (char === "#") flags.sharp = true;
      else if (char === "0") flags.zero = true;
      else if (char === "+") flags.plus = true;
      else if (char === "-") flags.minus = true;
      else if (char === " ") flags.space = true;
      else return;
    }
  };
  const readWidth = (flags: Flags): void => {
    if (format[at] === "*") {
      at += 1;
      const width = numberFromArgument();
      if (width === undefined) parts.push("%!(BADWIDTH)");
      else {
        flags.width = Math.abs(width);
        if (width < 0) {
          flags.minus = true;
          flags.zero = false;
        }
      }
      state.afterIndex = false;
      return;
    }
    const width = readNumber();
    if (width === undefined) return;
    flags.width = width;
    if (state.afterIndex) state.good = false;
  };
  const readPrecision = (flags: Flags): void => {
    if (at + 1 >= format.length || format[at] !== ".") return;
    at += 1;
    if (state.afterIndex) state.good = false;
    argumentIndex();
    if (format[at] === "*") {
      at += 1;
      const precision = numberFromArgument();
      if (precision === undefined || precision < 0) parts.push("%!(BADPREC)");
      else flags.precision = precision;
      state.afterIndex = false;
    } else {
      flags.precision = readNumber() ?? 0;
    }
  };
  /** One verb; `at` stands behind its percent sign. */
  const directive = (): void => {
    const flags = noFlags();
    state.good = true;
    readFlags(flags);
    argumentIndex();
    readWidth(flags);
    readPrecision(flags);
    if (!state.afterIndex) argumentIndex();
    if (at >= format.length) {
      parts.push("%!(NOVERB)");
      return;
    }
    const { rune, size } = decodeRune(format, at);
    const verb = size === 1 && rune === RUNE_ERROR ? encodeRune(rune) : format.slice(at, at + size);
    at += size;
    if (verb === "%") parts.push("%");
    else if (!state.good) parts.push(`%!${verb}(BADINDEX)`);
    else if (state.next >= args.length) parts.push(`%!${verb}(MISSING)`);
    else {
      if (verb === "v") {
        flags.sharpV = flags.sharp;
        flags.sharp = false;
        flags.plusV = flags.plus;
        flags.plus = false;
      }
      parts.push(formatted(args[state.next], verb, flags));
      state.next += 1;
    }
  };

  while (at < format.length) {
    const percent = format.indexOf("%", at);
    if (percent === -1) {
      parts.push(format.slice(at));
      break;
    }
    parts.push(format.slice(at, percent));
    at = percent + 1;
    directive();
  }
  if (!state.reordered && state.next < args.length) {
    const extra = args
      .slice(state.next)
      .map((arg) => (arg === undefined ? "<nil>" : `${arg.type.name}=${formatted(arg, "v", noFlags())}`));
    parts.push(`%!(EXTRA ${extra.join(", ")})`);
  }
  return parts.join("");
}

/** How a value reads in an error (Go's `%v` and `%s`). */
export const shownValue = (value: Argument, verb: "v" | "s" = "v"): string =>
  value === undefined ? "<invalid reflect.Value>" : formattedAt(unboxed(value), verb, noFlags(), 0, false);

function formatted(arg: Argument, verb: string, flags: Flags): string {
  if (arg === undefined) {
    return verb === "T" || verb === "v" ? padded("<nil>", flags) : `%!${verb}(<nil>)`;
  }
  if (verb === "T") return padded(truncated(arg.type.name, flags), flags);
  // Go's verb for the errors of Errorf fits nothing else.
  if (verb === "w") return mistake(arg, verb, flags, 0);
  return formattedAt(arg, verb, flags, 0, false);
}

/** Formats a value that lies `depth` deep; `erroring` while it is shown as part of a mistake. */
function formattedAt(arg: Argument, verb: string, flags: Flags, depth: number, erroring: boolean): string {
  if (depth > MAX_DEPTH) return "...";
  if (arg === undefined) return verb === "v" ? "<nil>" : `%!${verb}(<nil>)`;
  const print = arg.type.print;
  if (print !== undefined && !erroring && !flags.sharpV && "vsxXq".includes(verb)) {
    return formattedString(print(arg), verb, flags) ?? "";
  }
  const inner = (value: Argument): string => formattedAt(value, verb, flags, depth + 1, erroring);
  const text = formattedKind(arg, verb, flags, inner);
  return text ?? mistake(arg, verb, flags, depth);
}

/** A value with a verb that does not fit it. */
const mistake = (arg: Value, verb: string, flags: Flags, depth: number): string =>
  `%!${verb}(${arg.type.name}=${formattedAt(arg, "v", flags, depth, true)})`;

/** Formats by the kind of the value; undefined when the verb does not fit it. */
function formattedKind(
  arg: Value,
  verb: string,
  flags: Flags,
  inner: (value: Argument) => string,
): string | undefined {
  switch (arg.kind) {
    case "bool":
      return verb === "t" || verb === "v" ? padded(String(arg.data), flags) : undefined;
    case "string":
      return formattedString(arg.data, verb, flags);
    case "int":
      return formattedInteger(arg.data, true, verb, flags);
    case "uint8":
    case "uint16":
      return formattedInteger(arg.data, false, verb, flags);
    case "float64":
      return formattedFloat(arg.data, verb, flags);
    case "map":
      return formattedMap(arg.type.name, arg.data, flags, inner);
    case "struct":
      return formattedStruct(arg.type.name, arg.type.fields ?? [], arg.data, flags, inner);
    case "slice": {
      const items = elementsOf(arg.data).map(inner);
      if (!flags.sharpV) return `[${items.join(" ")}]`;
      return arg.data === undefined ? `${arg.type.name}(nil)` : `${arg.type.name}{${items.join(", ")}}`;
    }
    case "interface":
      if (arg.data !== undefined) return inner(arg.data);
      return flags.sharpV ? `${arg.type.name}(nil)` : "<nil>";
    case "func":
      return verb === "v" ? `(${arg.type.name})` : undefined;
  }
}

function formattedMap(
  type: string,
  data: GoMap | undefined,
  flags: Flags,
  inner: (value: Argument) => string,
): string {
  if (flags.sharpV && data === undefined) return `${type}(nil)`;
  const entries = sortedEntries(data).map(([key, value]) => `${inner(stringValue(key))}:${inner(value)}`);
  return flags.sharpV ? `${type}{${entries.join(", ")}}` : `map[${entries.join(" ")}]`;
}

const STRING_TYPE = { kind: "string", name: "string" } as const;
const stringValue = (data: string): Value => ({ kind: "string", type: STRING_TYPE, data });

/** Entries by their keys' bytes. */
export const sortedEntries = (data: GoMap | undefined): [string, Value][] =>
  [...(data ?? [])].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

function formattedStruct(
  type: string,
  names: readonly string[],
  data: readonly Value[],
  flags: Flags,
  inner: (value: Argument) => string,
): string {
  const named = flags.plusV || flags.sharpV;
  const fields = data.map((value, index) => `${named ? `${names[index]}:` : ""}${inner(value)}`);
  return flags.sharpV ? `${type}{${fields.join(", ")}}` : `{${fields.join(" ")}}`;
}
