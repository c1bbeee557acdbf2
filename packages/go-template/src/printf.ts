/** Go's `fmt`: values as text, with and without a format. All strings are byte strings. */
import { type FloatVerb, formatFloat } from "./float.ts";
import { canBackquote, quote, quoteRune } from "./quote.ts";
import { elementsOf, type GoMap, unboxed, type Value } from "./types.ts";
import { decodeRune, encodeRune, firstRunes, isPrintable, isRune, RUNE_ERROR, runeCount } from "./utf8.ts";

/** Largest width and precision that Go takes from a format. */
const MAX_WIDTH = 1_000_000;
/** How deep values may lie in each other to be printed; JSON that is read is bounded to this too. */
const MAX_DEPTH = 500;

interface Flags {
  plus: boolean;
  minus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v` and `%#v`. */
  plusV: boolean;
  sharpV: boolean;
  width?: number;
  precision?: number;
}

const noFlags = (): Flags => ({
  plus: false,
  minus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
});

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
  return text ?? `%!${verb}(${arg.type.name}=${formattedAt(arg, "v", flags, depth, true)})`;
}

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

function padded(text: string, { width, minus, zero }: Flags): string {
  const missing = width === undefined ? 0 : width - runeCount(text);
  if (missing <= 0) return text;
  return minus ? text + " ".repeat(missing) : (zero ? "0" : " ").repeat(missing) + text;
}

const truncated = (text: string, { precision }: Flags): string =>
  precision === undefined ? text : firstRunes(text, precision);

function formattedString(text: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case "v":
      return flags.sharpV ? quoted(text, flags) : padded(truncated(text, flags), flags);
    case "s":
      return padded(truncated(text, flags), flags);
    case "q":
      return quoted(text, flags);
    case "x":
      return hexBytes(text, flags);
    case "X":
      return hexBytes(text, flags).toUpperCase();
    default:
      return undefined;
  }
}

function quoted(text: string, flags: Flags): string {
  const shown = truncated(text, flags);
  if (flags.sharp && canBackquote(shown)) return padded(`\`${shown}\``, flags);
  return padded(quote(shown, { ascii: flags.plus }), flags);
}

function hexBytes(text: string, flags: Flags): string {
  const length = Math.min(text.length, flags.precision ?? text.length);
  const hex = Buffer.from(text.slice(0, length), "latin1").toString("hex");
  if (length === 0) return padded("", flags);
  const mark = flags.sharp ? "0x" : "";
  const shown = flags.space ? (hex.match(/../g) ?? []).map((byte) => mark + byte).join(" ") : mark + hex;
  // Zeros are padding only; the digits themselves are never widened.
  return padded(shown, flags);
}

function formattedInteger(value: bigint, signed: boolean, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case "v":
      return flags.sharpV && !signed
        ? integer(value, 16, verb, { ...flags, sharp: true })
        : integer(value, 10, verb, flags);
    case "d":
      return integer(value, 10, verb, flags);
    case "b":
      return integer(value, 2, verb, flags);
    case "o":
    case "O":
      return integer(value, 8, verb, flags);
    case "x":
      return integer(value, 16, verb, flags);
    case "X":
      return integer(value, 16, verb, flags).toUpperCase();
    case "c":
      return padded(encodeRune(runeOf(value)), flags);
    case "q":
      return padded(quoteRune(runeOf(value), { ascii: flags.plus }), flags);
    case "U":
      return unicode(BigInt.asUintN(64, value), flags);
    default:
      return undefined;
  }
}

const runeOf = (value: bigint): number => (value >= 0n && value <= 0x10ffffn ? Number(value) : RUNE_ERROR);

function integer(value: bigint, base: number, verb: string, flags: Flags): string {
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  const { precision, width } = flags;
  if (precision === 0 && value === 0n) return " ".repeat(width ?? 0);
  if (precision !== undefined) digits = digits.padStart(precision, "0");
  else if (flags.zero && !flags.minus && width !== undefined) {
    digits = digits.padStart(width - (negative || flags.plus || flags.space ? 1 : 0), "0");
  }
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    else if (base === 8 && !digits.startsWith("0")) digits = `0${digits}`;
    else if (base === 16) digits = `0x${digits}`;
  }
  if (verb === "O") digits = `0o${digits}`;
  const sign = negative ? "-" : flags.plus ? "+" : flags.space ? " " : "";
  return padded(sign + digits, { ...flags, zero: false });
}

function unicode(value: bigint, flags: Flags): string {
  const digits = value
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(4, flags.precision ?? 0), "0");
  const rune = value <= 0x10ffffn ? Number(value) : -1;
  const shown = flags.sharp && rune >= 0 && isRune(rune) && isPrintable(rune) ? ` '${encodeRune(rune)}'` : "";
  return padded(`U+${digits}${shown}`, { ...flags, zero: false });
}

function formattedFloat(value: number, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case "v":
      return float(value, "g", flags.precision ?? -1, flags);
    case "b":
    case "g":
    case "G":
    case "x":
    case "X":
      return float(value, verb, flags.precision ?? -1, flags);
    case "f":
    case "e":
    case "E":
      return float(value, verb, flags.precision ?? 6, flags);
    case "F":
      return float(value, "f", flags.precision ?? 6, flags);
    default:
      return undefined;
  }
}

function float(value: number, verb: FloatVerb, precision: number, flags: Flags): string {
  let text = formatFloat(value, verb, precision);
  if (!/^[+-]/.test(text)) text = `+${text}`;
  let sign = text.charAt(0);
  let digits = text.slice(1);
  if (flags.space && sign === "+" && !flags.plus) sign = " ";
  if (digits === "Inf" || digits === "NaN") {
    const bare = digits === "NaN" && !flags.space && !flags.plus;
    const shown = bare || (sign === "+" && !flags.plus && digits === "NaN") ? digits : sign + digits;
    return padded(shown, { ...flags, zero: false });
  }
  if (flags.sharp && verb !== "b") digits = withPoint(digits, verb, precision);
  if (!flags.plus && sign === "+") return padded(digits, flags);
  if (flags.zero && !flags.minus && flags.width !== undefined && flags.width > digits.length + 1) {
    return sign + digits.padStart(flags.width - 1, "0");
  }
  return padded(sign + digits, flags);
}

/** The `#` flag: a decimal point always, and for `%g` the zeros that it drops. */
function withPoint(text: string, verb: FloatVerb, precision: number): string {
  let missing = verb === "g" || verb === "G" || verb === "x" ? (precision === -1 ? 6 : precision) : 0;
  const tailAt = verb === "x" || verb === "X" ? text.search(/[pP]/) : text.search(/[eEpP]/);
  let digits = tailAt === -1 ? text : text.slice(0, tailAt);
  const tail = tailAt === -1 ? "" : text.slice(tailAt);
  let significant = false;
  for (const char of digits) {
    if (char === ".") continue;
    if (char !== "0") significant = true;
    if (significant) missing -= 1;
  }
  if (!digits.includes(".")) {
    if (digits === "0") missing -= 1;
    digits += ".";
  }
  return digits + "0".repeat(Math.max(missing, 0)) + tail;
}
