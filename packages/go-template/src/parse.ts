/** Templates parsed into trees, with Go's rules, error texts and lines. */
import { TemplateError } from "./errors.ts";
import { createLexer, type Token, type TokenKind } from "./lex.ts";
import {
  type ActionNode,
  type Argument,
  type BreakNode,
  type CommandNode,
  type ContinueNode,
  type IfNode,
  type ListNode,
  type Node,
  nodeText,
  type PipeNode,
  type RangeNode,
  type TemplateNode,
  type VariableNode,
  type WithNode,
} from "./nodes.ts";
import { NumberError, parseCharacter, parseNumber } from "./number.ts";
import { quote, unquote } from "./quote.ts";
import { firstRunes, textOf } from "./utf8.ts";

/**
 * How deep control structures and parentheses may stand in each other. Go allows 10,000 parentheses; templates
 * written by people stay below ten, and chains of `else if` below some dozens.
 */
export const MAX_NESTING = 500;

/** The trees of a text: its own and those that it defines, by name (byte strings). */
export type Trees = ReadonlyMap<string, ListNode>;

export interface ParseOptions {
  /** Names that may be called. */
  readonly functions: ReadonlySet<string>;
}

type EndNode = { kind: "end" } | { kind: "else" };
type Parsed = Node | EndNode;
type Context = "if" | "range" | "with";

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
const KEYWORD = /^[a-z.]+$/;

/** A token as errors show it. */
function shown({ kind, text }: Token): string {
  if (kind === "EOF") return "EOF";
  if (kind === "error") return text;
  if (kind === text && KEYWORD.test(kind)) return `<${text}>`;
  return text.length > 10 ? `${quote(firstRunes(text, 10))}...` : quote(text);
}

/** Parses the byte string `text` under the name (byte string) that errors show. */
export function parse(name: string, text: string, { functions }: ParseOptions): Trees {
  const trees = new Map<string, ListNode>();
  const lexer = createLexer(text, { functionNames: functions });
  /** Tokens that were read; [0] is the newest, the others were given back. */
  const tokens: Token[] = [{ kind: "EOF", position: 0, text: "", line: 0 }];
  let givenBack = 0;
  let variables = ["$"];
  let rangeDepth = 0;
  let nesting = 0;
  let actionLine = 0;

  const fail = (message: string): never => {
    throw new TemplateError(textOf(`template: ${name}:${tokens[0]!.line}: ${message}`));
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
    if (actionLine !== 0 && actionLine !== token.line) {
      where = ` in action started at ${name}:${actionLine}`;
      if (token.text.endsWith(" action")) where = where.slice(" in action".length);
    }
    return fail(`${token.text}${where}`);
  };
  const expect = (kind: TokenKind, context: string): Token => {
    const token = nextNonSpace();
    return token.kind === kind ? token : unexpected(token, context);
  };
  /** Runs a step one level deeper. */
  const nested = <T>(step: () => T): T => {
    if (nesting >= MAX_NESTING) fail(`nested more than ${MAX_NESTING} deep`);
    nesting += 1;
    const result = step();
    nesting -= 1;
    return result;
  };

  const add = (treeName: string, root: ListNode): void => {
    const existing = trees.get(treeName);
    if (existing === undefined || isEmpty(existing)) trees.set(treeName, root);
    else if (!isEmpty(root)) fail(`template: multiple definition of template ${quote(treeName)}`);
  };
  const unquoted = (token: Token): string => unquote(token.text) ?? fail("invalid syntax");
  const templateName = (token: Token, context: string): string =>
    token.kind === "string" || token.kind === "raw string" ? unquoted(token) : unexpected(token, context);

  const itemList = (): { list: ListNode; end: EndNode } => {
    const list: ListNode = { kind: "list", position: peekNonSpace().position, nodes: [] };
    while (peekNonSpace().kind !== "EOF") {
      const node = textOrAction();
      if (node.kind === "end" || node.kind === "else") return { list, end: node };
      list.nodes.push(node);
    }
    return fail("unexpected EOF");
  };
  const textOrAction = (): Parsed => {
    const token = nextNonSpace();
    if (token.kind === "text") return { kind: "text", position: token.position, text: token.text };
    if (token.kind !== "{{") return unexpected(token, "input");
    actionLine = token.line;
    const node = action();
    actionLine = 0;
    return node;
  };

  const action = (): Parsed => {
    const token = nextNonSpace();
    const { position } = token;
    switch (token.kind) {
      case "block":
        return nested(block);
      case "break":
      case "continue":
        return leaveRange(token.kind, position);
      case "else":
        return elseControl();
      case "end":
        expect("}}", "end");
        return { kind: "end" };
      case "if":
      case "range":
      case "with":
        return control(token.kind);
      case "template":
        return templateAction();
    }
    backup();
    const first = peek();
    const node: ActionNode = { kind: "action", position: first.position, pipe: pipeline("command", "}}") };
    return node;
  };
  const leaveRange = (kind: "break" | "continue", position: number): BreakNode | ContinueNode => {
    const token = nextNonSpace();
    if (token.kind !== "}}") unexpected(token, `{{${kind}}}`);
    if (rangeDepth === 0) fail(`{{${kind}}} outside {{range}}`);
    return { kind, position };
  };
  const elseControl = (): EndNode => {
    const { kind } = peekNonSpace();
    // What follows is parsed as a control structure in the else branch.
    if (kind !== "if" && kind !== "with") expect("}}", "else");
    return { kind: "else" };
  };
  const control = (kind: Context): IfNode | RangeNode | WithNode => nested(() => branches(kind));
  const branches = (kind: Context): IfNode | RangeNode | WithNode => {
    const inScope = variables.length;
    const pipe = pipeline(kind, "}}");
    if (kind === "range") rangeDepth += 1;
    const { list, end } = itemList();
    if (kind === "range") rangeDepth -= 1;
    let elseList: ListNode | undefined;
    if (end.kind === "else") {
      if ((kind === "if" || kind === "with") && peek().kind === kind) {
        const { position } = next();
        elseList = { kind: "list", position, nodes: [control(kind)] };
      } else {
        const rest = itemList();
        elseList = rest.list;
        if (rest.end.kind !== "end") fail(`expected end; found {{else}}`);
      }
    }
    variables.length = inScope;
    return { kind, position: pipe.position, pipe, list, ...(elseList === undefined ? {} : { elseList }) };
  };
  /** Parses a body that sees nothing of what surrounds it, up to its end. */
  const body = (context: string): ListNode => {
    const outer = { variables, rangeDepth, actionLine };
    variables = ["$"];
    rangeDepth = 0;
    actionLine = 0;
    const { list, end } = itemList();
    if (end.kind !== "end") fail(`unexpected {{else}} in ${context}`);
    ({ variables, rangeDepth, actionLine } = outer);
    return list;
  };
  const block = (): TemplateNode => {
    const context = "block clause";
    const token = nextNonSpace();
    const blockName = templateName(token, context);
    const pipe = pipeline(context, "}}");
    add(blockName, body(context));
    return { kind: "template", position: token.position, name: blockName, pipe };
  };
  const templateAction = (): TemplateNode => {
    const context = "template clause";
    const token = nextNonSpace();
    const called = templateName(token, context);
    if (nextNonSpace().kind === "}}") return { kind: "template", position: token.position, name: called };
    backup();
    const pipe = pipeline(context, "}}");
    return { kind: "template", position: token.position, name: called, pipe };
  };
  const definition = (): void => {
    const context = "define clause";
    const token = nextNonSpace();
    const defined = templateName(token, context);
    expect("}}", context);
    add(defined, body(context));
  };

  const pipeline = (context: string, end: TokenKind): PipeNode => {
    const { position } = peekNonSpace();
    const declared: VariableNode[] = [];
    const assigns = declarations(context, declared);
    const commands: CommandNode[] = [];
    for (;;) {
      const token = nextNonSpace();
      if (token.kind === end) break;
      if (!OPERANDS.has(token.kind)) unexpected(token, context);
      backup();
      commands.push(command());
    }
    if (commands.length === 0) fail(`missing value for ${context}`);
    for (const [index, { args }] of commands.entries()) {
      if (index > 0 && LITERALS.has(args[0]!.kind)) {
        fail(`non executable command in pipeline stage ${index + 1}`);
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
      variables.push(variable.text);
      if (declares) return deciding.kind === "=";
      if (context !== "range" || declared.length >= 2) fail(`too many declarations in ${context}`);
      const { kind } = peekNonSpace();
      if (kind !== "variable" && kind !== "}}" && kind !== ")") fail("range can only initialize variables");
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
      else if (token.kind !== "|") unexpected(token, "operand");
      break;
    }
    if (args.length === 0) fail("empty command");
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
    if (LITERALS.has(node.kind)) fail(`unexpected . after term ${quote(nodeText(node))}`);
    return { kind: "chain", position, node, names };
  };
  const term = (): Argument | undefined => {
    const token = nextNonSpace();
    const { position, text: written } = token;
    switch (token.kind) {
      case "identifier":
        if (!functions.has(written)) fail(`function ${quote(written)} not defined`);
        return { kind: "identifier", position, name: written };
      case ".":
        return { kind: "dot", position };
      case "nil":
        return { kind: "nil", position };
      case "variable": {
        if (!variables.includes(written)) fail(`undefined variable ${quote(written)}`);
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
      if (error instanceof NumberError) return fail(error.message);
      throw error;
    }
  };

  const root: ListNode = { kind: "list", position: peek().position, nodes: [] };
  while (peek().kind !== "EOF") {
    if (peek().kind === "{{") {
      const delimiter = next();
      if (nextNonSpace().kind === "define") {
        definition();
        continue;
      }
      giveBack(delimiter);
    }
    const node = textOrAction();
    if (node.kind === "end" || node.kind === "else") fail(`unexpected {{${node.kind}}}`);
    else root.nodes.push(node);
  }
  add(name, root);
  return trees;
}

const variableNode = ({ position, text }: Token): VariableNode => ({
  kind: "variable",
  position,
  names: text.split("."),
});

/** Whether a body holds nothing but space: such a definition replaces none. */
const isEmpty = ({ nodes }: ListNode): boolean =>
  nodes.every((node) => node.kind === "text" && node.text.trim() === "");
