/** Templates parsed into trees, with Go's rules, error texts and lines. */
import type {
  ActionNode,
  BreakNode,
  ContinueNode,
  IfNode,
  ListNode,
  Node,
  RangeNode,
  TemplateNode,
  WithNode,
} from "./nodes.ts";
import { createPipelineParser } from "./parse-pipeline.ts";
import { quote } from "./quote.ts";
import type { Token } from "./token.ts";
import { createTokenReader, type TokenReader } from "./token-reader.ts";

/** The trees of a text: its own and those that it defines, by name (byte strings). */
export type Trees = ReadonlyMap<string, ListNode>;

export interface ParseOptions {
  /** Names that may be called. */
  readonly functions: ReadonlySet<string>;
}

type EndNode = { kind: "end" } | { kind: "else" };
type Parsed = Node | EndNode;
type Context = "if" | "range" | "with";

/** Parses the byte string `text` under the name (byte string) that errors show. */
export function parse(name: string, text: string, { functions }: ParseOptions): Trees {
  const trees = new Map<string, ListNode>();
  const reader: TokenReader = createTokenReader(name, text, functions);
  const { next, nextNonSpace, peek, peekNonSpace, backup, giveBack, expect, nested } = reader;
  const parser = createPipelineParser(reader, functions);
  const { pipeline, unquoted } = parser;
  let rangeDepth = 0;

  const add = (treeName: string, root: ListNode): void => {
    const existing = trees.get(treeName);
    if (existing === undefined || isEmpty(existing)) trees.set(treeName, root);
    else if (!isEmpty(root)) reader.fail(`template: multiple definition of template ${quote(treeName)}`);
  };
  const templateName = (token: Token, context: string): string =>
    token.kind === "string" || token.kind === "raw string"
      ? unquoted(token)
      : reader.unexpected(token, context);

  const itemList = (): { list: ListNode; end: EndNode } => {
    const list: ListNode = { kind: "list", position: peekNonSpace().position, nodes: [] };
    while (peekNonSpace().kind !== "EOF") {
      const node = textOrAction();
      if (node.kind === "end" || node.kind === "else") return { list, end: node };
      list.nodes.push(node);
    }
    return reader.fail("unexpected EOF");
  };
  const textOrAction = (): Parsed => {
    const token = nextNonSpace();
    if (token.kind === "text") return { kind: "text", position: token.position, text: token.text };
    if (token.kind !== "{{") return reader.unexpected(token, "input");
    reader.actionLine = token.line;
    const node = action();
    reader.actionLine = 0;
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
    if (token.kind !== "}}") reader.unexpected(token, `{{${kind}}}`);
    if (rangeDepth === 0) reader.fail(`{{${kind}}} outside {{range}}`);
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
    const inScope = parser.variables.length;
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
        if (rest.end.kind !== "end") reader.fail(`expected end; found {{else}}`);
      }
    }
    parser.variables.length = inScope;
    return { kind, position: pipe.position, pipe, list, ...(elseList === undefined ? {} : { elseList }) };
  };
  /** Parses a body that sees nothing of what surrounds it, up to its end; a wrong end is an error of the line given. */
  const body = (context: string, line?: number): ListNode => {
    const { variables } = parser;
    const { actionLine } = reader;
    const outerDepth = rangeDepth;
    parser.variables = ["$"];
    rangeDepth = 0;
    reader.actionLine = 0;
    const { list, end } = itemList();
    if (end.kind !== "end") reader.fail(`unexpected {{else}} in ${context}`, line);
    rangeDepth = outerDepth;
    parser.variables = variables;
    reader.actionLine = actionLine;
    return list;
  };
  const block = (): TemplateNode => {
    const context = "block clause";
    const token = nextNonSpace();
    const blockName = templateName(token, context);
    const pipe = pipeline(context, "}}");
    // Go parses the body of a block with tokens of its own.
    add(blockName, body(context, reader.line()));
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
    if (node.kind === "end" || node.kind === "else") reader.fail(`unexpected {{${node.kind}}}`);
    else root.nodes.push(node);
  }
  add(name, root);
  return trees;
}

/** Whether a body holds nothing but space: such a definition replaces none. */
const isEmpty = ({ nodes }: ListNode): boolean =>
  nodes.every((node) => node.kind === "text" && node.text.trim() === "");
