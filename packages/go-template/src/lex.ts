/** Cuts a template's text into tokens. */

import { quote } from "./quote.ts";
import type { Keyword, Token, TokenKind } from "./token.ts";
import { decodeRune, encodeRune, isPrintable, isWordRune } from "./utf8.ts";

const KEYWORDS: ReadonlySet<string> = new Set<Keyword>([
  "block",
  "break",
  "continue",
  "define",
  "else",
  "end",
  "if",
  "nil",
  "range",
  "template",
  "with",
]);

export interface LexOptions {
  /** Names of keywords that are those of functions: `break` and `continue` may be. */
  readonly functionNames: ReadonlySet<string>;
}

export interface Lexer {
  /** The next token; "EOF" again and again at the end. Behind an error nothing follows. */
  next(): Token;
}

const EOF = -1;
const SPACES = " \t\r\n";
const isSpace = (char: string | undefined): boolean =>
  char !== undefined && char !== "" && SPACES.includes(char);
const SINGLE: Readonly<Record<string, TokenKind>> = { "=": "=", "|": "|", "(": "(", ")": ")" };

/** Shows a character as Go's `%#U` does. */
function unicodeName(rune: number): string {
  const code = `U+${rune.toString(16).toUpperCase().padStart(4, "0")}`;
  return isPrintable(rune) ? `${code} '${encodeRune(rune)}'` : code;
}

/** Reads the byte string `input` token by token. */
export function createLexer(input: string, { functionNames }: LexOptions): Lexer {
  let text = input;
  let at = 0;
  let start = 0;
  let line = 1;
  let parentheses = 0;
  let inAction = false;
  let failed: Token | undefined;

  /** Makes a token of what lies between the start and here. */
  const token = (kind: TokenKind): Token => {
    const result = { kind, position: start, text: text.slice(start, at), line };
    skip();
    return result;
  };
  /** Drops what lies between the start and here. */
  const skip = (): void => {
    for (let i = text.indexOf("\n", start); i !== -1 && i < at; i = text.indexOf("\n", i + 1)) line += 1;
    start = at;
  };
  const fail = (message: string): Token => {
    failed = { kind: "error", position: start, text: message, line };
    text = "";
    at = 0;
    start = 0;
    return failed;
  };
  const peek = (): number => (at >= text.length ? EOF : decodeRune(text, at).rune);
  const advance = (): number => {
    if (at >= text.length) return EOF;
    const { rune, size } = decodeRune(text, at);
    at += size;
    return rune;
  };
  const accept = (set: string): boolean => {
    const char = text[at];
    if (char === undefined || !set.includes(char)) return false;
    at += 1;
    return true;
  };
  const acceptRun = (set: string): void => {
    while (accept(set));
  };
  const hasRightMarker = (from: number): boolean => isSpace(text[from]) && text[from + 1] === "-";
  /** How the action ends here, if it does. */
  const rightDelimiter = (): "plain" | "trimming" | undefined => {
    if (hasRightMarker(at) && text.startsWith("}}", at + 2)) return "trimming";
    return text.startsWith("}}", at) ? "plain" : undefined;
  };
  const skipSpaces = (): void => {
    while (isSpace(text[at])) at += 1;
  };

  /** Text up to the next action, or the start of that action. */
  const lexText = (): Token => {
    for (;;) {
      const next = text.indexOf("{{", at);
      if (next === -1) {
        at = text.length;
        return token(at > start ? "text" : "EOF");
      }
      const trims = text[next + 2] === "-" && isSpace(text[next + 3]);
      let end = next;
      if (trims) while (end > start && isSpace(text[end - 1])) end -= 1;
      at = end;
      const before = end > start ? token("text") : undefined;
      at = next;
      skip();
      if (before !== undefined) return before;
      at = next + 2 + (trims ? 2 : 0);
      if (!text.startsWith("/*", at)) {
        at = next + 2;
        const delimiter = token("{{");
        at += trims ? 2 : 0;
        skip();
        inAction = true;
        parentheses = 0;
        return delimiter;
      }
      skip();
      const failure = skipComment();
      if (failure !== undefined) return failure;
    }
  };
  const skipComment = (): Token | undefined => {
    const end = text.indexOf("*/", at + 2);
    if (end === -1) return fail("unclosed comment");
    at = end + 2;
    const delimiter = rightDelimiter();
    if (delimiter === undefined) return fail("comment ends before closing delimiter");
    at += delimiter === "trimming" ? 4 : 2;
    if (delimiter === "trimming") skipSpaces();
    skip();
    return undefined;
  };
  const lexRightDelimiter = (): Token => {
    const trims = rightDelimiter() === "trimming";
    if (trims) {
      at += 2;
      skip();
    }
    at += 2;
    const delimiter = token("}}");
    if (trims) {
      skipSpaces();
      skip();
    }
    inAction = false;
    return delimiter;
  };
  const lexSpace = (): Token => {
    skipSpaces();
    if (hasRightMarker(at - 1) && text.startsWith("}}", at + 1)) {
      at -= 1;
      if (at === start) return lexRightDelimiter();
    }
    return token("space");
  };
  /** Whether a word may end here. */
  const atTerminator = (): boolean =>
    at >= text.length || " \t\r\n.,|:)(".includes(text.charAt(at)) || text.startsWith("}}", at);
  const skipWord = (): void => {
    while (isWordRune(peek())) advance();
  };
  const lexIdentifier = (): Token => {
    skipWord();
    if (!atTerminator()) return fail(`bad character ${unicodeName(peek())}`);
    const word = text.slice(start, at);
    if (word === "true" || word === "false") return token("bool");
    const isKeyword =
      KEYWORDS.has(word) && !((word === "break" || word === "continue") && functionNames.has(word));
    return token(isKeyword ? (word as Keyword) : "identifier");
  };
  const lexFieldOrVariable = (kind: "field" | "variable"): Token => {
    if (atTerminator()) return token(kind === "variable" ? "variable" : ".");
    skipWord();
    if (!atTerminator()) return fail(`bad character ${unicodeName(peek())}`);
    return token(kind);
  };
  const lexQuoted = (mark: string, kind: TokenKind, what: string): Token => {
    for (;;) {
      const char = text[at];
      if (char === undefined || char === "\n") return fail(`unterminated ${what}`);
      at += 1;
      if (char === mark) return token(kind);
      if (char === "\\") {
        if (text[at] === undefined || text[at] === "\n") return fail(`unterminated ${what}`);
        advance();
      }
    }
  };
  const lexRawString = (): Token => {
    const end = text.indexOf("`", at);
    if (end === -1) return fail("unterminated raw quoted string");
    at = end + 1;
    return token("raw string");
  };
  const scanNumber = (): boolean => {
    accept("+-");
    let digits = "0123456789_";
    if (accept("0")) {
      if (accept("xX")) digits = "0123456789abcdefABCDEF_";
      else if (accept("oO")) digits = "01234567_";
      else if (accept("bB")) digits = "01_";
    }
    acceptRun(digits);
    if (accept(".")) acceptRun(digits);
    if (digits.length === 11 && accept("eE")) {
      accept("+-");
      acceptRun("0123456789_");
    }
    if (digits.length === 23 && accept("pP")) {
      accept("+-");
      acceptRun("0123456789_");
    }
    accept("i");
    if (!isWordRune(peek())) return true;
    advance();
    return false;
  };
  const lexNumber = (): Token => {
    const bad = (): Token => fail(`bad number syntax: ${quote(text.slice(start, at))}`);
    if (!scanNumber()) return bad();
    if (text[at] !== "+" && text[at] !== "-") return token("number");
    return scanNumber() && text[at - 1] === "i" ? token("complex") : bad();
  };

  const lexAction = (): Token => {
    if (rightDelimiter() !== undefined) {
      return parentheses === 0 ? lexRightDelimiter() : fail("unclosed left paren");
    }
    const char = text[at];
    if (char === undefined) return fail("unclosed action");
    if (isSpace(char)) return lexSpace();
    const rune = peek();
    if (isWordRune(rune) && !(char >= "0" && char <= "9")) return lexIdentifier();
    if (/[0-9+-]/.test(char) || (char === "." && /[0-9]/.test(text[at + 1] ?? ""))) return lexNumber();
    // A dot as the very last character begins a number that never comes.
    if (char === "." && at + 1 >= text.length) return lexNumber();
    advance();
    switch (char) {
      case ":":
        if (text[at] !== "=") return fail("expected :=");
        at += 1;
        return token(":=");
      case '"':
        return lexQuoted('"', "string", "quoted string");
      case "'":
        return lexQuoted("'", "character constant", "character constant");
      case "`":
        return lexRawString();
      case "$":
        return lexFieldOrVariable("variable");
      case ".":
        return lexFieldOrVariable("field");
      case "(":
        parentheses += 1;
        break;
      case ")":
        parentheses -= 1;
        if (parentheses < 0) return fail("unexpected right paren");
        break;
    }
    const single = SINGLE[char];
    if (single !== undefined) return token(single);
    if (rune < 0x80 && isPrintable(rune)) return token("char");
    return fail(`unrecognized character in action: ${unicodeName(rune)}`);
  };

  return { next: () => failed ?? (inAction ? lexAction() : lexText()) };
}
