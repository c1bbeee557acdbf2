/** Escaping for HTML, JavaScript and query strings, on byte strings. */
import { decodeRune, isPrintable } from "./utf8.ts";

const HTML: Readonly<Record<string, string>> = {
  "\0": "\xef\xbf\xbd",
  '"': "&#34;",
  "'": "&#39;",
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

export const escapeHtml = (text: string): string => text.replace(/[\0"'&<>]/g, (char) => HTML[char]!);

const JS: Readonly<Record<string, string>> = { "\\": "\\\\", "'": "\\'", '"': '\\"' };
const upperHex = (value: number, digits: number): string =>
  value.toString(16).toUpperCase().padStart(digits, "0");

export function escapeJs(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    const { rune, size } = decodeRune(text, at);
    if (rune < 0x80) {
      const special = rune < 0x20 || "<>&=".includes(char);
      parts.push(JS[char] ?? (special ? `\\u${upperHex(rune, 4)}` : char));
    } else {
      parts.push(isPrintable(rune) ? text.slice(at, at + size) : `\\u${upperHex(rune, 4)}`);
    }
    at += size;
  }
  return parts.join("");
}

export const escapeQuery = (text: string): string =>
  text.replace(/[^a-zA-Z0-9\-_.~]/g, (char) => (char === " " ? "+" : `%${upperHex(char.charCodeAt(0), 2)}`));
