/** The tree of a parsed template. Positions are byte offsets in its text. */
import { quote } from "./quote.ts";

export type Node =
  | ListNode
  | TextNode
  | ActionNode
  | IfNode
  | RangeNode
  | WithNode
  | TemplateNode
  | BreakNode
  | ContinueNode;

export interface ListNode {
  readonly kind: "list";
  readonly position: number;
  readonly nodes: Node[];
}
export interface TextNode {
  readonly kind: "text";
  readonly position: number;
  readonly text: string;
}
export interface ActionNode {
  readonly kind: "action";
  readonly position: number;
  readonly pipe: PipeNode;
}
interface BranchNode {
  readonly position: number;
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList?: ListNode;
}
export interface IfNode extends BranchNode {
  readonly kind: "if";
}
export interface RangeNode extends BranchNode {
  readonly kind: "range";
}
export interface WithNode extends BranchNode {
  readonly kind: "with";
}
export interface TemplateNode {
  readonly kind: "template";
  readonly position: number;
  readonly name: string;
  readonly pipe?: PipeNode;
}
export interface BreakNode {
  readonly kind: "break";
  readonly position: number;
}
export interface ContinueNode {
  readonly kind: "continue";
  readonly position: number;
}

/** An argument of a command. */
export type Argument =
  | BoolNode
  | NumberNode
  | StringNode
  | NilNode
  | DotNode
  | FieldNode
  | VariableNode
  | IdentifierNode
  | ChainNode
  | PipeNode;

export interface BoolNode {
  readonly kind: "bool";
  readonly position: number;
  readonly value: boolean;
}
export interface NumberNode {
  readonly kind: "number";
  readonly position: number;
  readonly text: string;
  readonly number: NumberLiteral;
}
export interface StringNode {
  readonly kind: "string";
  readonly position: number;
  /** With its quotes. */
  readonly quoted: string;
  readonly text: string;
}
export interface NilNode {
  readonly kind: "nil";
  readonly position: number;
}
export interface DotNode {
  readonly kind: "dot";
  readonly position: number;
}
export interface FieldNode {
  readonly kind: "field";
  readonly position: number;
  readonly names: readonly string[];
}
export interface VariableNode {
  readonly kind: "variable";
  readonly position: number;
  /** The variable with its `$`, then fields. */
  readonly names: readonly string[];
}
export interface IdentifierNode {
  readonly kind: "identifier";
  readonly position: number;
  readonly name: string;
}
export interface ChainNode {
  readonly kind: "chain";
  readonly position: number;
  readonly node: Argument;
  readonly names: readonly string[];
}
export interface PipeNode {
  readonly kind: "pipe";
  readonly position: number;
  /** Assigns to variables that exist rather than declaring new ones. */
  readonly assigns: boolean;
  readonly variables: readonly VariableNode[];
  readonly commands: readonly CommandNode[];
}
export interface CommandNode {
  readonly kind: "command";
  readonly position: number;
  readonly args: readonly Argument[];
}

/** A number under every type that can hold it; Go decides by the place where it stands. */
export interface NumberLiteral {
  readonly int?: bigint;
  readonly uint?: bigint;
  readonly float?: number;
}

/** A node as errors show it: normal form, byte string. */
export function nodeText(node: Node | Argument | CommandNode): string {
  switch (node.kind) {
    case "list":
      return node.nodes.map(nodeText).join("");
    case "text":
      return node.text;
    case "action":
      return `{{${nodeText(node.pipe)}}}`;
    case "if":
    case "range":
    case "with": {
      const end = node.elseList === undefined ? "" : `{{else}}${nodeText(node.elseList)}`;
      return `{{${node.kind} ${nodeText(node.pipe)}}}${nodeText(node.list)}${end}{{end}}`;
    }
    case "template":
      return `{{template ${quote(node.name)}${node.pipe === undefined ? "" : ` ${nodeText(node.pipe)}`}}}`;
    case "break":
    case "continue":
      return `{{${node.kind}}}`;
    case "bool":
      return String(node.value);
    case "number":
      return node.text;
    case "string":
      return node.quoted;
    case "nil":
      return "nil";
    case "dot":
      return ".";
    case "field":
      return node.names.map((name) => `.${name}`).join("");
    case "variable":
      return node.names.join(".");
    case "identifier":
      return node.name;
    case "chain":
      return [argumentText(node.node), ...node.names].join(".");
    case "pipe": {
      const names = node.variables.map(nodeText).join(", ");
      const declaration = names === "" ? "" : `${names} ${node.assigns ? "=" : ":="} `;
      return declaration + node.commands.map(nodeText).join(" | ");
    }
    case "command":
      return node.args.map(argumentText).join(" ");
  }
}

const argumentText = (node: Argument): string =>
  node.kind === "pipe" ? `(${nodeText(node)})` : nodeText(node);
