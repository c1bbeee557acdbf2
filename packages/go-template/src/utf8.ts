/**
 * Byte strings. Go's strings are bytes; here they are JavaScript strings whose characters are the bytes 0 to 255
 * ("latin1"), so that lengths, indexes and positions count bytes and no value is changed on its way.
 */

/** U+FFFD, what Go shows for bytes that are no UTF-8. */
export const RUNE_ERROR = 0xfffd;
const MAX_RUNE = 0x10ffff;

/** The byte string of a text. */
export const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** The text of a byte string; what is no UTF-8 reads U+FFFD. */
export const textOf = (bytes: string): string => Buffer.from(bytes, "latin1").toString("utf8");

export interface DecodedRune {
  readonly rune: number;
  /** Bytes taken; 0 at the end of the string. */
  readonly size: number;
}

const END: DecodedRune = { rune: RUNE_ERROR, size: 0 };
const INVALID: DecodedRune = { rune: RUNE_ERROR, size: 1 };

/** Reads the character at a byte position; a byte that begins none is U+FFFD of size 1. */
export function decodeRune(bytes: string, at: number): DecodedRune {
  if (at >= bytes.length) return END;
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return { rune: first, size: 1 };
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > bytes.length) return INVALID;
  let rune = first & (0xff >> (size + 1));
  for (let i = 1; i < size; i++) {
    const next = bytes.charCodeAt(at + i);
    if (next < 0x80 || next > 0xbf) return INVALID;
    rune = (rune << 6) | (next & 0x3f);
  }
  const least = size === 2 ? 0x80 : size === 3 ? 0x800 : 0x10000;
  if (rune < least || rune > MAX_RUNE || isSurrogate(rune)) return INVALID;
  return { rune, size };
}

/** The bytes of a character; of a number that is none, those of U+FFFD. */
export function encodeRune(rune: number): string {
  const valid = rune >= 0 && rune <= MAX_RUNE && !isSurrogate(rune) ? rune : RUNE_ERROR;
  return valid < 0x80 ? String.fromCharCode(valid) : bytesOf(String.fromCodePoint(valid));
}

/** How many characters a byte string holds; each byte that begins none counts as one. */
export function runeCount(bytes: string): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += decodeRune(bytes, at).size) count += 1;
  return count;
}

/** The first `count` characters. */
export function firstRunes(bytes: string, count: number): string {
  let at = 0;
  for (let n = 0; n < count && at < bytes.length; n++) at += decodeRune(bytes, at).size;
  return bytes.slice(0, at);
}

export const isSurrogate = (rune: number): boolean => rune >= 0xd800 && rune <= 0xdfff;
export const isRune = (rune: number): boolean => rune >= 0 && rune <= MAX_RUNE && !isSurrogate(rune);

const WORD = /^[\p{L}\p{Nd}_]$/u;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Whether the character may be part of a name: a letter, a decimal digit or an underscore. */
export const isWordRune = (rune: number): boolean => rune >= 0 && WORD.test(String.fromCodePoint(rune));

/** Whether Go shows the character as it is within quotes. */
export const isPrintable = (rune: number): boolean =>
  rune < 0x7f
    ? rune >= 0x20
    : rune <= MAX_RUNE && !isSurrogate(rune) && PRINTABLE.test(String.fromCodePoint(rune));
