/** Number literals in Go's syntax, as byte strings. */
import type { NumberLiteral } from "./nodes.ts";
import { quote, unquoteChar } from "./quote.ts";

const MAX_UINT = (1n << 64n) - 1n;
const MAX_INT = (1n << 63n) - 1n;
const MIN_INT = -(1n << 63n);
/** More digits than any 64-bit number has, whatever its base. */
const MAX_DIGITS = 64;
const DIGITS: Readonly<Record<number, RegExp>> = {
  2: /^[01]+$/,
  8: /^[0-7]+$/,
  10: /^[0-9]+$/,
  16: /^[0-9a-fA-F]+$/,
};
const PREFIXES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16 };
const DECIMAL_FLOAT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/;

/** A syntax that is wrong; its message is a byte string. */
export class NumberError extends Error {}

/** Reads a number under every type that can hold it. */
export function parseNumber(text: string): NumberLiteral {
  if (text.endsWith("i")) throw new NumberError(`complex numbers are not supported: ${quote(text)}`);
  let uint = parseUint(text);
  let int = parseInt64(text);
  if (int === 0n) uint = 0n;
  if (int !== undefined || uint !== undefined) {
    return literal(int, uint, Number(int ?? uint));
  }
  const float = parseFloat64(text);
  if (float === undefined) throw new NumberError(`illegal number syntax: ${quote(text)}`);
  if (!/[.eEpP]/.test(text)) throw new NumberError(`integer overflow: ${quote(text)}`);
  if (Number.isInteger(float)) {
    const exact = BigInt(float);
    if (exact >= MIN_INT && exact <= MAX_INT) int = exact;
    if (exact >= 0n && exact <= MAX_UINT) uint = exact;
  }
  return literal(int, uint, float);
}

const literal = (int: bigint | undefined, uint: bigint | undefined, float: number): NumberLiteral => ({
  ...(int === undefined ? {} : { int }),
  ...(uint === undefined ? {} : { uint }),
  float,
});

/** Reads a character literal with its quotes: its number is the code point. */
export function parseCharacter(text: string): NumberLiteral {
  const char = unquoteChar(text, 1, "'");
  if (char === undefined) throw new NumberError("invalid syntax");
  if (char.end !== text.length - 1) throw new NumberError(`malformed character constant: ${text}`);
  return literal(BigInt(char.rune), BigInt(char.rune), char.rune);
}

function parseUint(text: string): bigint | undefined {
  const value = digitsOf(text);
  return value === undefined || value > MAX_UINT ? undefined : value;
}

function parseInt64(text: string): bigint | undefined {
  const negative = text.startsWith("-");
  const value = digitsOf(negative || text.startsWith("+") ? text.slice(1) : text);
  if (value === undefined) return undefined;
  const signed = negative ? -value : value;
  return signed < MIN_INT || signed > MAX_INT ? undefined : signed;
}

/** An unsigned integer with an optional prefix of its base; undefined also when it is far too large. */
function digitsOf(text: string): bigint | undefined {
  let base = 10;
  let digits = text;
  if (text.startsWith("0") && text.length > 1) {
    const prefixed = text.length >= 3 ? PREFIXES[text.charAt(1).toLowerCase()] : undefined;
    base = prefixed ?? 8;
    digits = text.slice(prefixed === undefined ? 1 : 2);
  }
  if (digits.includes("_")) {
    if (!underscoresAreRight(text)) return undefined;
    digits = digits.replaceAll("_", "");
  }
  if (!DIGITS[base]?.test(digits)) return undefined;
  const significant = digits.replace(/^0+/, "");
  if (significant.length > MAX_DIGITS) return undefined;
  const prefix = base === 16 ? "0x" : base === 8 ? "0o" : base === 2 ? "0b" : "";
  return BigInt(prefix + (significant || "0"));
}

/** An underscore must stand between digits, or between the prefix of a base and a digit. */
function underscoresAreRight(text: string): boolean {
  let rest = /^[+-]/.test(text) ? text.slice(1) : text;
  let before: "digit" | "_" | "other" = "other";
  const hex = /^0[xX]/.test(rest);
  if (hex || /^0[bBoO]/.test(rest)) {
    before = "digit";
    rest = rest.slice(2);
  }
  for (const char of rest) {
    if ((char >= "0" && char <= "9") || (hex && /[a-fA-F]/.test(char))) before = "digit";
    else if (char === "_") {
      if (before !== "digit") return false;
      before = "_";
    } else {
      if (before === "_") return false;
      before = "other";
    }
  }
  return before !== "_";
}

function parseFloat64(written: string): number | undefined {
  if (written.includes("_") && !underscoresAreRight(written)) return undefined;
  const text = written.replaceAll("_", "");
  const value = DECIMAL_FLOAT.test(text) ? Number(text) : hexFloat(text);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

function hexFloat(text: string): number | undefined {
  const match = HEX_FLOAT.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (whole === "" && fraction === "") return undefined;
  if (digits.length > MAX_DIGITS) return undefined;
  const mantissa = Number(BigInt(`0x${digits || "0"}`));
  const value = mantissa * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === "-" ? -value : value;
}
