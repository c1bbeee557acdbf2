/** Parses pipelines: declarations, commands and their operands. */
import { type Argument, type CommandNode, nodeText, type PipeNode, type VariableNode } from "./nodes.ts";
import { NumberError, parseCharacter, parseNumber } from "./number.ts";
import { quote, unquote } from "./quote.ts";
import type { Token, TokenKind } from "./token.ts";
import type { TokenReader } from "./token-reader.ts";

const OPERANDS: ReadonlySet<TokenKind> = new Set([
  "bool",
  "character constant",
  "complex",
  ".",
  "field",
  "identifier",
  "number",
  "nil",
  "raw string",
  "string",
  "variable",
  "(",
]);
const LITERALS: ReadonlySet<Argument["kind"]> = new Set(["bool", "string", "number", "nil", "dot"]);

export interface PipelineParser {
  /** Parses up to the end, which is read as well; `context` names it in errors. */
  pipeline(context: string, end: TokenKind): PipeNode;
  /** What a string's token stands for. */
  unquoted(token: Token): string;
  /** Names of the variables in scope. */
  variables: string[];
}

/** Makes a parser that knows the functions by their names. */
export function createPipelineParser(reader: TokenReader, functions: ReadonlySet<string>): PipelineParser {
  const { next, nextNonSpace, peek, peekNonSpace, backup, giveBack, nested } = reader;

  const unquoted = (token: Token): string => unquote(token.text) ?? reader.fail("invalid syntax");
  const pipeline = (context: string, end: TokenKind): PipeNode => {
    const { position } = peekNonSpace();
    const declared: VariableNode[] = [];
    const assigns = declarations(context, declared);
    const commands: CommandNode[] = [];
    for (;;) {
      const token = nextNonSpace();
      if (token.kind === end) break;
      if (!OPERANDS.has(token.kind)) reader.unexpected(token, context);
      backup();
      commands.push(command());
    }
    if (commands.length === 0) reader.fail(`missing value for ${context}`);
    for (const [index, { args }] of commands.entries()) {
      if (index > 0 && LITERALS.has(args[0]!.kind)) {
        reader.fail(`non executable command in pipeline stage ${index + 1}`);
      }
    }
    return { kind: "pipe", position, assigns, variables: declared, commands };
  };
  /** Reads `$v :=`, `$i, $v :=` and the like into `declared`; whether they assign. */
  const declarations = (context: string, declared: VariableNode[]): boolean => {
    for (;;) {
      const variable = peekNonSpace();
      if (variable.kind !== "variable") return false;
      next();
      // Behind the variable may be a space, and behind that what decides: it is all given back if it declares nothing.
      const after = peek();
      const deciding = peekNonSpace();
      const declares = deciding.kind === "=" || deciding.kind === ":=";
      if (!declares && !(deciding.kind === "char" && deciding.text === ",")) {
        if (after.kind === "space") giveBack(after, variable);
        else giveBack(variable);
        return false;
      }
      nextNonSpace();
      declared.push(variableNode(variable));
      parser.variables.push(variable.text);
      if (declares) return deciding.kind === "=";
      if (context !== "range" || declared.length >= 2) reader.fail(`too many declarations in ${context}`);
      const { kind } = peekNonSpace();
      if (kind !== "variable" && kind !== "}}" && kind !== ")")
        reader.fail("range can only initialize variables");
    }
  };
  const command = (): CommandNode => {
    const { position } = peekNonSpace();
    const args: Argument[] = [];
    for (;;) {
      peekNonSpace();
      const node = operand();
      if (node !== undefined) args.push(node);
      const token = next();
      if (token.kind === "space") continue;
      if (token.kind === "}}" || token.kind === ")") backup();
      else if (token.kind !== "|") reader.unexpected(token, "operand");
      break;
    }
    if (args.length === 0) reader.fail("empty command");
    return { kind: "command", position, args };
  };
  const operand = (): Argument | undefined => {
    const node = term();
    if (node === undefined || peek().kind !== "field") return node;
    const { position } = peek();
    const names: string[] = [];
    while (peek().kind === "field") names.push(next().text.slice(1));
    if (node.kind === "field") return { ...node, position, names: [...node.names, ...names] };
    if (node.kind === "variable") return { ...node, position, names: [...node.names, ...names] };
    if (LITERALS.has(node.kind)) reader.fail(`unexpected . after term ${quote(nodeText(node))}`);
    return { kind: "chain", position, node, names };
  };
  const term = (): Argument | undefined => {
    const token = nextNonSpace();
    const { position, text: written } = token;
    switch (token.kind) {
      case "identifier":
        if (!functions.has(written)) reader.fail(`function ${quote(written)} not defined`);
        return { kind: "identifier", position, name: written };
      case ".":
        return { kind: "dot", position };
      case "nil":
        return { kind: "nil", position };
      case "variable": {
        if (!parser.variables.includes(written)) reader.fail(`undefined variable ${quote(written)}`);
        return variableNode(token);
      }
      case "field":
        return { kind: "field", position, names: [written.slice(1)] };
      case "bool":
        return { kind: "bool", position, value: written === "true" };
      case "character constant":
      case "complex":
      case "number":
        return numberNode(token);
      case "(":
        return nested(() => pipeline("parenthesized pipeline", ")"));
      case "string":
      case "raw string":
        return { kind: "string", position, quoted: written, text: unquoted(token) };
    }
    backup();
    return undefined;
  };
  const numberNode = ({ kind, position, text: written }: Token): Argument => {
    try {
      const number = kind === "character constant" ? parseCharacter(written) : parseNumber(written);
      return { kind: "number", position, text: written, number };
    } catch (error) {
      if (error instanceof NumberError) return reader.fail(error.message);
      throw error;
    }
  };

  const parser: PipelineParser = { pipeline, unquoted, variables: ["$"] };
  return parser;
}

const variableNode = ({ position, text }: Token): VariableNode => ({
  kind: "variable",
  position,
  names: text.split("."),
});
