/** Reads tokens with a look ahead, and tells what is wrong where they stand. */
import { TemplateError } from "./errors.ts";
import { createLexer } from "./lex.ts";
import { quote } from "./quote.ts";
import type { Token, TokenKind } from "./token.ts";
import { firstRunes, textOf } from "./utf8.ts";

/**
 * How deep control structures and parentheses may stand in each other. Go allows 10,000 parentheses; templates
 * written by people stay below ten, and chains of `else if` below some dozens.
 */
export const MAX_NESTING = 500;

export interface TokenReader {
  next(): Token;
  nextNonSpace(): Token;
  peek(): Token;
  peekNonSpace(): Token;
  /** Gives the newest token back. */
  backup(): void;
  /** Gives back the newest token and these, which came before it. */
  giveBack(...earlier: Token[]): void;
  expect(kind: TokenKind, context: string): Token;
  /** Line of the action that is read, 0 outside of one. */
  actionLine: number;
  /** Ends with an error at the line, the newest token's unless given. */
  fail(message: string, line?: number): never;
  /** Line of the newest token. */
  line(): number;
  unexpected(token: Token, context: string): never;
  /** Runs a step one level deeper. */
  nested<T>(step: () => T): T;
}

/** Reads the byte string `text`; `name` is what errors show. */
export function createTokenReader(
  name: string,
  text: string,
  functionNames: ReadonlySet<string>,
): TokenReader {
  const lexer = createLexer(text, { functionNames });
  /** Tokens that were read; [0] is the newest, the others were given back. */
  const tokens: Token[] = [{ kind: "EOF", position: 0, text: "", line: 0 }];
  let givenBack = 0;
  let nesting = 0;

  const line = (): number => tokens[0]!.line;
  const fail = (message: string, at: number = line()): never => {
    throw new TemplateError(textOf(`template: ${name}:${at}: ${message}`));
  };
  const next = (): Token => {
    if (givenBack > 0) givenBack -= 1;
    else tokens[0] = lexer.next();
    return tokens[givenBack]!;
  };
  const backup = (): void => {
    givenBack += 1;
  };
  const giveBack = (...earlier: Token[]): void => {
    for (const [index, token] of earlier.entries()) tokens[index + 1] = token;
    givenBack = earlier.length + 1;
  };
  const peek = (): Token => {
    if (givenBack > 0) return tokens[givenBack - 1]!;
    givenBack = 1;
    tokens[0] = lexer.next();
    return tokens[0];
  };
  const nextNonSpace = (): Token => {
    for (;;) {
      const token = next();
      if (token.kind !== "space") return token;
    }
  };
  const peekNonSpace = (): Token => {
    const token = nextNonSpace();
    backup();
    return token;
  };
  const unexpected = (token: Token, context: string): never => {
    if (token.kind !== "error") return fail(`unexpected ${shown(token)} in ${context}`);
    let where = "";
    if (reader.actionLine !== 0 && reader.actionLine !== token.line) {
      where = ` in action started at ${name}:${reader.actionLine}`;
      if (token.text.endsWith(" action")) where = where.slice(" in action".length);
    }
    return fail(`${token.text}${where}`);
  };
  const expect = (kind: TokenKind, context: string): Token => {
    const token = nextNonSpace();
    return token.kind === kind ? token : unexpected(token, context);
  };
  const nested = <T>(step: () => T): T => {
    if (nesting >= MAX_NESTING) fail(`nested more than ${MAX_NESTING} deep`);
    nesting += 1;
    const result = step();
    nesting -= 1;
    return result;
  };
  const reader: TokenReader = {
    next,
    nextNonSpace,
    peek,
    peekNonSpace,
    backup,
    giveBack,
    expect,
    actionLine: 0,
    fail,
    line,
    unexpected,
    nested,
  };
  return reader;
}

const KEYWORD = /^[a-z.]+$/;

/** A token as errors show it. */
function shown({ kind, text }: Token): string {
  if (kind === "EOF") return "EOF";
  if (kind === "error") return text;
  if (kind === text && KEYWORD.test(kind)) return `<${text}>`;
  return text.length > 10 ? `${quote(firstRunes(text, 10))}...` : quote(text);
}
