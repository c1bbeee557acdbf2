/** Functions on texts; byte strings. */
import { CallError, decodeRune, encodeRune, quote } from "@quartet/go-template";

const characters = (bytes: string): string[] => {
  const result: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { size } = decodeRune(bytes, at);
    result.push(bytes.slice(at, at + size));
    at += size;
  }
  return result;
};

/** Splits at each separator; at every character when it is empty. */
export const split = (bytes: string, separator: string): string[] =>
  separator === "" ? characters(bytes) : bytes.split(separator);

/** Replaces the first `count` occurrences, all when it is negative; an empty one is found at every character. */
export function replace(bytes: string, old: string, by: string, count: bigint): string {
  if (count === 0n || old === by) return bytes;
  if (old === "") {
    const gaps = ["", ...characters(bytes)];
    const limit = count < 0n || count > BigInt(gaps.length) ? gaps.length : Number(count);
    return gaps.map((char, index) => char + (index < limit ? by : "")).join("");
  }
  const parts = bytes.split(old);
  const limit = count < 0n || count > BigInt(parts.length) ? parts.length : Number(count);
  return (
    parts.slice(0, limit + 1).join(by) +
    parts
      .slice(limit + 1)
      .map((part) => old + part)
      .join("")
  );
}

export const trimSuffix = (bytes: string, suffix: string): string =>
  suffix !== "" && bytes.endsWith(suffix) ? bytes.slice(0, -suffix.length) : bytes;

/** Changes each character on its own, as Unicode's simple mappings do. */
const mapped = (bytes: string, change: (char: string, rune: number) => number): string =>
  characters(bytes)
    .map((char) => {
      const { rune } = decodeRune(char, 0);
      return encodeRune(change(String.fromCodePoint(rune), rune));
    })
    .join("");
const single = (changed: string, otherwise: number): number => {
  const rune = changed.codePointAt(0) ?? otherwise;
  return changed.length === String.fromCodePoint(rune).length ? rune : otherwise;
};

export const toUpper = (bytes: string): string =>
  mapped(bytes, (char, rune) => single(char.toUpperCase(), greekUpper(rune)));

/** Greek letters with iota below: JavaScript knows only their capitals of two letters. */
function greekUpper(rune: number): number {
  const inRows = rune >= 0x1f80 && rune <= 0x1faf && (rune & 0xf) < 8;
  if (inRows) return rune + 8;
  return rune === 0x1fb3 || rune === 0x1fc3 || rune === 0x1ff3 ? rune + 9 : rune;
}

/** The Turkish capital I with a dot is the one letter whose lower case JavaScript writes with two characters. */
export const toLower = (bytes: string): string =>
  mapped(bytes, (char, rune) => (rune === 0x130 ? 0x69 : single(char.toLowerCase(), rune)));

const BASE64 = /[A-Za-z0-9+/]/;

/** Decodes padded standard base64; line ends are passed over. */
export function decodeBase64(text: string): string {
  const corrupt = (at: number): never => {
    const problem = `illegal base64 data at input byte ${at}`;
    throw new CallError(problem, problem);
  };
  const skipLines = (from: number): number => {
    let at = from;
    while (text[at] === "\n" || text[at] === "\r") at += 1;
    return at;
  };
  let place = 0;
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    at += 1;
    if (BASE64.test(char)) place = (place + 1) % 4;
    else if (char === "=") {
      if (place < 2) corrupt(at - 1);
      if (place === 2) {
        at = skipLines(at);
        if (at === text.length) corrupt(at);
        if (text[at] !== "=") corrupt(at - 1);
        at += 1;
      }
      at = skipLines(at);
      if (at < text.length) corrupt(at);
      place = 0;
    } else if (char !== "\n" && char !== "\r") corrupt(at - 1);
  }
  if (place !== 0) corrupt(text.length - place);
  return Buffer.from(text, "base64").toString("latin1");
}

export const encodeBase64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

export function parseBool(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw unparsed("ParseBool", text, "invalid syntax");
}

function unparsed(name: string, text: string, what: string): CallError {
  return new CallError(`strconv.${name}: parsing ${quote(text)}: ${what}`, `strconv.${name}: ${what}`);
}

/** A decimal 64-bit integer with an optional sign. */
export function atoi(text: string): bigint {
  const problem = (what: string): never => {
    throw unparsed("Atoi", text, what);
  };
  if (!/^[+-]?[0-9]+$/.test(text)) return problem("invalid syntax");
  const digits = text.replace(/^[+-]?0*/, "");
  const value = digits.length > 19 ? 1n << 64n : BigInt(digits || "0");
  const signed = text.startsWith("-") ? -value : value;
  return BigInt.asIntN(64, signed) === signed ? signed : problem("value out of range");
}
