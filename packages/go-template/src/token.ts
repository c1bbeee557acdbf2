/** The tokens of a template's text. */

export type Keyword =
  | "block"
  | "break"
  | "continue"
  | "define"
  | "else"
  | "end"
  | "if"
  | "nil"
  | "range"
  | "template"
  | "with";

export type TokenKind =
  | "error"
  | "bool"
  | "char"
  | "character constant"
  | "complex"
  | "="
  | ":="
  | "EOF"
  | "field"
  | "identifier"
  | "{{"
  | "("
  | "number"
  | "|"
  | "raw string"
  | "}}"
  | ")"
  | "space"
  | "string"
  | "text"
  | "variable"
  | "."
  | Keyword;

export interface Token {
  readonly kind: TokenKind;
  /** Byte offset of its start. */
  readonly position: number;
  /** As written; of an error its message. */
  readonly text: string;
  /** Line of its start, from 1. */
  readonly line: number;
}
