/** Strings, integers and floats under the verbs of Go's `fmt`. All strings are byte strings. */
import { type FloatVerb, formatFloat } from "./float.ts";
import { canBackquote, quote, quoteRune } from "./quote.ts";
import { encodeRune, firstRunes, isPrintable, isRune, RUNE_ERROR, runeCount } from "./utf8.ts";

/** What stands between `%` and the verb. */
export interface Flags {
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

export const noFlags = (): Flags => ({
  plus: false,
  minus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
});

export function padded(text: string, { width, minus, zero }: Flags): string {
  const missing = width === undefined ? 0 : width - runeCount(text);
  if (missing <= 0) return text;
  return minus ? text + " ".repeat(missing) : (zero ? "0" : " ").repeat(missing) + text;
}

export const truncated = (text: string, { precision }: Flags): string =>
  precision === undefined ? text : firstRunes(text, precision);

export function formattedString(text: string, verb: string, flags: Flags): string | undefined {
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

export function formattedInteger(
  value: bigint,
  signed: boolean,
  verb: string,
  flags: Flags,
): string | undefined {
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

export function formattedFloat(value: number, verb: string, flags: Flags): string | undefined {
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
