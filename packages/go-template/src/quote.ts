/** Quoted strings and characters in Go's syntax, both ways. All strings are byte strings. */
import { decodeRune, encodeRune, isPrintable, isRune, isSurrogate, RUNE_ERROR } from "./utf8.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};
const ESCAPED: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(ESCAPES).map(([letter, byte]) => [byte.charCodeAt(0), `\\${letter}`]),
);
const HEX_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

export interface QuoteOptions {
  /** Escapes everything beyond ASCII. */
  readonly ascii?: boolean;
}

/** A double-quoted literal that reads back as the bytes. */
export function quote(bytes: string, options: QuoteOptions = {}): string {
  const parts = ['"'];
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = decodeRune(bytes, at);
    if (rune === RUNE_ERROR && size === 1) parts.push(`\\x${hex(bytes.charCodeAt(at), 2)}`);
    else parts.push(quotedRune(rune, '"', options));
    at += size;
  }
  parts.push('"');
  return parts.join("");
}

/** A single-quoted character literal; of a number that is no character, that of U+FFFD. */
export function quoteRune(rune: number, options: QuoteOptions = {}): string {
  return `'${quotedRune(isRune(rune) ? rune : RUNE_ERROR, "'", options)}'`;
}

function quotedRune(rune: number, mark: string, { ascii = false }: QuoteOptions): string {
  if (rune === mark.charCodeAt(0)) return `\\${mark}`;
  if (rune === 0x5c) return "\\\\";
  if (isPrintable(rune) && (!ascii || rune < 0x80)) return encodeRune(rune);
  const letter = ESCAPED[rune];
  if (letter !== undefined) return letter;
  if (rune < 0x20 || rune === 0x7f) return `\\x${hex(rune, 2)}`;
  return rune < 0x10000 ? `\\u${hex(rune, 4)}` : `\\U${hex(rune, 8)}`;
}

/** Whether a raw literal (in back quotes) can hold the bytes. */
export function canBackquote(bytes: string): boolean {
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = decodeRune(bytes, at);
    at += size;
    if (size > 1) {
      if (rune === 0xfeff) return false;
    } else if (rune === RUNE_ERROR || (rune < 0x20 && rune !== 0x09) || rune === 0x60 || rune === 0x7f) {
      return false;
    }
  }
  return true;
}

/** The bytes that a string literal with its quotes stands for, or nothing when its syntax is wrong. */
export function unquote(literal: string): string | undefined {
  const mark = literal[0];
  const body = literal.slice(1, -1);
  if (mark === "`") return body.includes("`") ? undefined : body.replaceAll("\r", "");
  const parts: string[] = [];
  for (let at = 0; at < body.length; ) {
    const char = unquoteChar(body, at, '"');
    if (char === undefined) return undefined;
    parts.push(char.bytes);
    at = char.end;
  }
  return parts.join("");
}

export interface UnquotedChar {
  /** The number of the character, or of the byte after `\x` and an octal escape. */
  readonly rune: number;
  readonly bytes: string;
  /** The position behind it. */
  readonly end: number;
}

/** Reads one character or escape of a literal in the given quotes; nothing when its syntax is wrong. */
export function unquoteChar(text: string, at: number, mark: string): UnquotedChar | undefined {
  const first = text[at];
  if (first === undefined || first === mark || first === "\n") return undefined;
  if (first !== "\\") {
    const { rune, size } = decodeRune(text, at);
    return {
      rune,
      bytes: size === 1 && rune === RUNE_ERROR ? encodeRune(rune) : text.slice(at, at + size),
      end: at + size,
    };
  }
  const letter = text[at + 1];
  if (letter === undefined) return undefined;
  const simple = ESCAPES[letter];
  if (simple !== undefined) return { rune: simple.charCodeAt(0), bytes: simple, end: at + 2 };
  if (letter === mark) return { rune: mark.charCodeAt(0), bytes: mark, end: at + 2 };
  const length = HEX_LENGTHS[letter];
  if (length !== undefined) {
    const digits = text.slice(at + 2, at + 2 + length);
    if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
    const rune = Number.parseInt(digits, 16);
    if (letter === "x") return { rune, bytes: String.fromCharCode(rune), end: at + 4 };
    if (rune > 0x10ffff || isSurrogate(rune)) return undefined;
    return { rune, bytes: encodeRune(rune), end: at + 2 + length };
  }
  const octal = text.slice(at + 1, at + 4);
  if (!/^[0-7]{3}$/.test(octal)) return undefined;
  const rune = Number.parseInt(octal, 8);
  return rune > 255 ? undefined : { rune, bytes: String.fromCharCode(rune), end: at + 4 };
}
