/** Rendering: walks the trees of a template with Go's semantics. */
import { LimitError, TemplateError } from "./errors.ts";
import { BYTES_PER_STEP, type Limits } from "./limits.ts";
import {
  type Argument,
  type ChainNode,
  type CommandNode,
  type FieldNode,
  type IdentifierNode,
  type IfNode,
  type Node,
  type NumberNode,
  nodeText,
  type PipeNode,
  type RangeNode,
  type TemplateNode,
  type VariableNode,
  type WithNode,
} from "./nodes.ts";
import type { Trees } from "./parse.ts";
import { shownValue, sortedEntries, sprint } from "./printf.ts";
import { quote } from "./quote.ts";
import {
  ANY,
  assignable,
  bool,
  CallError,
  float64,
  type GoFunction,
  int,
  isTrue,
  type Slice,
  string,
  type Type,
  unboxed,
  type Value,
  zeroOf,
} from "./types.ts";
import { textOf } from "./utf8.ts";

export interface ExecOptions {
  /** Name of the template's text for error positions, and of the tree that is rendered (byte string). */
  readonly name: string;
  readonly text: string;
  readonly trees: Trees;
  /** What templates may call, by name. */
  readonly functions: ReadonlyMap<string, GoFunction>;
  /** Names of those functions that are the language's own: `and`, `or` and `call` are evaluated specially. */
  readonly builtins: ReadonlySet<string>;
  readonly limits: Limits;
}

type Maybe = Value | undefined;
/** No value came through the pipe; different from one that is nil. */
const MISSING = Symbol("missing");
type Final = Maybe | typeof MISSING;

interface Variable {
  readonly name: string;
  value: Maybe;
}

/** A body that is being walked. */
interface Frame {
  readonly nodes: readonly Node[];
  /** Index of the next node. */
  at: number;
  dot: Maybe;
  /** Of a loop: sets up the next round, or says that there is none. */
  readonly loop?: () => boolean;
  /** Undoes what the body set up. */
  readonly end?: () => void;
}

/** Renders with dot set to `data`; the result is a byte string. */
export function execute(data: Maybe, options: ExecOptions): string {
  const { name: rootName, text, trees, functions, builtins, limits } = options;
  const output: string[] = [];
  let written = 0;
  let steps = 0;
  let made = 0;
  let depth = 0;
  let templateName = rootName;
  let current: Node | Argument | CommandNode | undefined;
  let variables: Variable[] = [{ name: "$", value: data }];
  const frames: Frame[] = [];

  const message = (problem: string): string => {
    if (current === undefined) return textOf(`template: ${templateName}: ${problem}`);
    const before = text.slice(0, current.position);
    const line = before.split("\n").length;
    const column = before.length - (before.lastIndexOf("\n") + 1);
    const node = nodeText(current);
    return textOf(
      `template: ${rootName}:${line}:${column}: executing ${quote(templateName)} at <${node}>: ${problem}`,
    );
  };
  const fail = (problem: string): never => {
    throw new TemplateError(message(problem));
  };
  const limit = (problem: string): never => {
    throw new LimitError(message(problem));
  };
  const step = (count = 1): void => {
    steps += count;
    if (steps > limits.steps) limit(`stopped after ${limits.steps} steps: does the template loop?`);
  };
  const write = (piece: string): void => {
    written += piece.length;
    if (written > limits.outputBytes) limit(`rendered text exceeds ${limits.outputBytes} bytes`);
    output.push(piece);
  };

  const variable = (name: string): Variable => {
    for (let i = variables.length - 1; i >= 0; i--) {
      if (variables[i]!.name === name) return variables[i]!;
    }
    return fail(`undefined variable: ${name}`);
  };

  // Control structures. What is open is kept in a list of frames: depth costs memory of it, never of the call stack.

  const open = (frame: Omit<Frame, "at">): void => {
    frames.push({ ...frame, at: 0 });
  };
  const close = (): void => frames.pop()?.end?.();
  const walk = (): void => {
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const node = frame.nodes[frame.at];
      if (node !== undefined) {
        frame.at += 1;
        visit(frame.dot, node);
      } else if (frame.loop?.() === true) frame.at = 0;
      else close();
    }
  };
  const visit = (dot: Maybe, node: Node): void => {
    step();
    current = node;
    switch (node.kind) {
      case "text":
        write(node.text);
        break;
      case "action": {
        const value = evalPipeline(dot, node.pipe);
        if (node.pipe.variables.length === 0) print(node, value);
        break;
      }
      case "list":
        open({ nodes: node.nodes, dot });
        break;
      case "if":
      case "with":
        openBranch(dot, node);
        break;
      case "range":
        openRange(dot, node);
        break;
      case "template":
        openTemplate(dot, node);
        break;
      case "break":
        while (frames.at(-1)?.loop === undefined) close();
        close();
        break;
      case "continue":
        while (frames.at(-1)?.loop === undefined) close();
        frames.at(-1)!.at = Number.POSITIVE_INFINITY;
        break;
    }
  };
  /** Forgets the variables that were declared since. */
  const forget = (mark: number) => (): void => {
    variables.length = mark;
  };
  const openBranch = (dot: Maybe, node: IfNode | WithNode): void => {
    const end = forget(variables.length);
    const value = evalPipeline(dot, node.pipe);
    if (isTrue(value)) open({ nodes: node.list.nodes, dot: node.kind === "with" ? value : dot, end });
    else open({ nodes: node.elseList?.nodes ?? [], dot, end });
  };
  const openRange = (dot: Maybe, node: RangeNode): void => {
    const end = forget(variables.length);
    const value = unboxed(evalPipeline(dot, node.pipe));
    const mark = variables.length;
    const { variables: declared, assigns } = node.pipe;
    const [first, second] = declared;
    const elements = elementsFor(value, declared.length);
    /** Goes on to the next element, if there is one. */
    const loop = (): boolean => {
      variables.length = mark;
      const { done, value: item } = elements.next();
      if (done === true) return false;
      step();
      const [index, element] = item;
      if (assigns) {
        if (first !== undefined) variable(first.names[0]!).value = second === undefined ? element : index;
        if (second !== undefined) variable(second.names[0]!).value = element;
      } else {
        if (first !== undefined) variables[mark - 1]!.value = element;
        if (second !== undefined) variables[mark - 2]!.value = index;
      }
      frames.at(-1)!.dot = element;
      return true;
    };
    open({ nodes: node.list.nodes, dot, loop, end });
    if (loop()) return;
    frames.pop();
    open({ nodes: node.elseList?.nodes ?? [], dot, end });
  };
  const elementsFor = (value: Maybe, names: number): Iterator<readonly [Maybe, Maybe], undefined> => {
    switch (value?.kind) {
      case undefined:
        return [].values();
      case "int":
      case "uint8":
      case "uint16":
        if (names > 1) fail(`can't use ${shownValue(value)} to iterate over more than one variable`);
        return numbersBelow(value);
      case "slice":
        return items(value.data);
      case "map":
        return sortedEntries(value.data)
          .map(([key, element]) => [string(key), element] as const)
          .values();
      default:
        return fail(`range can't iterate over ${shownValue(value)}`);
    }
  };
  const openTemplate = (dot: Maybe, node: TemplateNode): void => {
    const tree = trees.get(node.name) ?? fail(`template ${quote(node.name)} not defined`);
    if (depth >= limits.depth) limit(`exceeded maximum template depth (${limits.depth})`);
    const value = node.pipe === undefined ? undefined : evalPipeline(dot, node.pipe);
    const outer = { variables, templateName };
    variables = [{ name: "$", value }];
    templateName = node.name;
    depth += 1;
    const end = (): void => {
      depth -= 1;
      ({ variables, templateName } = outer);
    };
    open({ nodes: tree.nodes, dot: value, end });
  };
  const print = (node: Node, value: Maybe): void => {
    current = node;
    if (value?.kind === "func") fail(`can't print ${nodeText(node)} of type ${value.type.name}`);
    write(value === undefined ? "<no value>" : sprint([value]));
  };

  // Pipelines and commands.

  const evalPipeline = (dot: Maybe, pipe: PipeNode): Maybe => {
    current = pipe;
    let value: Final = MISSING;
    for (const command of pipe.commands) value = unboxed(evalCommand(dot, command, value));
    const result = value === MISSING ? undefined : value;
    for (const { names } of pipe.variables) {
      if (pipe.assigns) variable(names[0]!).value = result;
      else variables.push({ name: names[0]!, value: result });
    }
    return result;
  };
  const evalCommand = (dot: Maybe, command: CommandNode, final: Final): Maybe => {
    step();
    const { args } = command;
    const first = args[0]!;
    switch (first.kind) {
      case "field":
        return evalField(dot, first, args, final);
      case "chain":
        return evalChain(dot, first, args, final);
      case "identifier":
        return evalFunction(dot, first, command, args, final);
      case "pipe":
        notAFunction(args, final);
        return evalPipeline(dot, first);
      case "variable":
        return evalVariable(dot, first, args, final);
    }
    current = first;
    notAFunction(args, final);
    switch (first.kind) {
      case "bool":
        return bool(first.value);
      case "dot":
        return dot;
      case "nil":
        return fail("nil is not a command");
      case "number":
        return constant(first);
      case "string":
        return string(first.text);
    }
  };
  const notAFunction = (args: readonly Argument[], final: Final): void => {
    if (args.length > 1 || final !== MISSING) {
      fail(`can't give argument to non-function ${nodeText(args[0]!)}`);
    }
  };
  /** A number where any type is accepted: its syntax decides. */
  const constant = (node: NumberNode): Maybe => {
    current = node;
    const { text: written, number } = node;
    const isHexInteger = /^0[xX]/.test(written) && written.length > 2 && !/[pP]/.test(written);
    if (number.float !== undefined && !isHexInteger && written[0] !== "'" && /[.eEpP]/.test(written)) {
      return float64(number.float);
    }
    return number.int === undefined ? fail(`${written} overflows int`) : int(number.int);
  };

  // Fields, variables, functions.

  const evalField = (dot: Maybe, node: FieldNode, args: readonly Argument[], final: Final): Maybe => {
    current = node;
    return fieldChain(dot, dot, node, node.names, args, final);
  };
  const evalChain = (dot: Maybe, node: ChainNode, args: readonly Argument[], final: Final): Maybe => {
    current = node;
    const value = argument(dot, undefined, node.node);
    return fieldChain(dot, value, node, node.names, args, final);
  };
  const evalVariable = (dot: Maybe, node: VariableNode, args: readonly Argument[], final: Final): Maybe => {
    current = node;
    const { value } = variable(node.names[0]!);
    if (node.names.length > 1) return fieldChain(dot, value, node, node.names.slice(1), args, final);
    notAFunction(args, final);
    return value;
  };
  const fieldChain = (
    dot: Maybe,
    receiver: Maybe,
    node: Argument,
    names: readonly string[],
    args: readonly Argument[],
    final: Final,
  ): Maybe => {
    let value = receiver;
    for (const [index, name] of names.entries()) {
      value =
        index < names.length - 1
          ? field(dot, name, node, [], MISSING, value)
          : field(dot, name, node, args, final, value);
    }
    return value;
  };
  const field = (
    dot: Maybe,
    name: string,
    node: Argument,
    args: readonly Argument[],
    final: Final,
    receiver: Maybe,
  ): Maybe => {
    if (receiver === undefined) return undefined;
    const value = unboxed(receiver);
    const typeName = receiver.type.name;
    if (value === undefined) return fail(`nil pointer evaluating ${typeName}.${name}`);
    const { methods } = value.type;
    if (methods !== undefined && Object.hasOwn(methods, name)) {
      return call(dot, methods[name]!(value), false, node, name, args, final);
    }
    const hasArguments = args.length > 1 || final !== MISSING;
    if (value.kind === "struct") {
      const index = (value.type.fields ?? []).indexOf(name);
      if (index !== -1) {
        if (hasArguments) fail(`${name} has arguments but cannot be invoked as function`);
        return value.data[index];
      }
    }
    if (value.kind === "map") {
      if (hasArguments) fail(`${name} is not a method but has arguments`);
      return value.data?.get(name);
    }
    return fail(`can't evaluate field ${name} in type ${typeName}`);
  };
  const evalFunction = (
    dot: Maybe,
    node: IdentifierNode,
    whole: Argument | CommandNode,
    args: readonly Argument[],
    final: Final,
  ): Maybe => {
    current = node;
    const called = functions.get(node.name) ?? fail(`${quote(node.name)} is not a defined function`);
    return call(dot, called, builtins.has(node.name), whole, node.name, args, final);
  };
  const call = (
    dot: Maybe,
    called: GoFunction,
    isBuiltin: boolean,
    node: Argument | CommandNode,
    name: string,
    argsWithName: readonly Argument[],
    final: Final,
  ): Maybe => {
    const args = argsWithName.slice(1);
    const { parameters, variadic = false } = called;
    const given = args.length + (final === MISSING ? 0 : 1);
    const fixed = variadic ? parameters.length - 1 : parameters.length;
    if (variadic && given < fixed) {
      fail(`wrong number of args for ${name}: want at least ${fixed} got ${args.length}`);
    }
    if (!variadic && given !== fixed) fail(`wrong number of args for ${name}: want ${fixed} got ${given}`);
    if (called.unusable !== undefined) fail(called.unusable);
    if (isBuiltin && (name === "and" || name === "or")) return shortCircuit(dot, name, args, final);

    const typeAt = (index: number): Type => parameters[Math.min(index, parameters.length - 1)]!;
    const values: Maybe[] = args.map((arg, index) => argument(dot, typeAt(index), arg));
    if (final !== MISSING) values.push(fitting(final, typeAt(values.length)));
    if (isBuiltin && name === "call") {
      values.unshift(string(args[0] === undefined ? pipedName(final as Maybe) : nodeText(args[0])));
    }
    step(cost(values));
    let result: Maybe;
    try {
      result = called.call(values);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      current = node;
      fail(`error calling ${name}: ${error.message}`);
    }
    if (result?.kind === "string") {
      made += result.data.length;
      if (made > limits.madeBytes) limit(`functions made more than ${limits.madeBytes} bytes of text`);
    }
    return result;
  };
  /** `and` and `or` stop at the argument that decides, and return it. */
  const shortCircuit = (dot: Maybe, name: "and" | "or", args: readonly Argument[], final: Final): Maybe => {
    let value: Maybe;
    for (const arg of args) {
      value = argument(dot, undefined, arg);
      if (isTrue(value) === (name === "or")) return value;
    }
    return final === MISSING ? value : final;
  };

  // Arguments.

  /** Evaluates an argument for a parameter; without a type any value will do. */
  const argument = (dot: Maybe, type: Type | undefined, node: Argument): Maybe => {
    current = node;
    switch (node.kind) {
      case "dot":
        return fitting(dot, type);
      case "nil":
        return type === undefined || canBeNil(type) ? nilOf(type) : fail(`cannot assign nil to ${type.name}`);
      case "field":
        return fitting(evalField(dot, node, [node], MISSING), type);
      case "variable":
        return fitting(evalVariable(dot, node, [], MISSING), type);
      case "pipe":
        return fitting(evalPipeline(dot, node), type);
      case "identifier":
        return fitting(evalFunction(dot, node, node, [], MISSING), type);
      case "chain":
        return fitting(evalChain(dot, node, [], MISSING), type);
    }
    switch (type?.kind) {
      case undefined:
      case "interface":
      case "any value":
        return literalValue(node);
      case "bool":
        return node.kind === "bool" ? bool(node.value) : fail(`expected bool; found ${nodeText(node)}`);
      case "string":
        return node.kind === "string" ? string(node.text) : fail(`expected string; found ${nodeText(node)}`);
      case "int":
        return node.kind === "number" && node.number.int !== undefined
          ? int(node.number.int)
          : fail(`expected integer; found ${nodeText(node)}`);
      case "float64":
        return node.kind === "number" && node.number.float !== undefined
          ? float64(node.number.float)
          : fail(`expected float; found ${nodeText(node)}`);
      default:
        return fail(`can't handle ${nodeText(node)} for arg of type ${type!.name}`);
    }
  };
  const literalValue = (node: Extract<Argument, { kind: "bool" | "number" | "string" }>): Maybe =>
    node.kind === "bool" ? bool(node.value) : node.kind === "string" ? string(node.text) : constant(node);
  const fitting = (value: Maybe, type: Type | undefined): Maybe => {
    if (type === undefined || type.kind === "any value") return value;
    if (value === undefined) {
      return canBeNil(type) ? nilOf(type) : fail(`invalid value; expected ${type.name}`);
    }
    if (assignable(value.type, type)) return value;
    const held = unboxed(value);
    if (held !== undefined && assignable(held.type, type)) return held;
    return fail(`wrong type for value; expected ${type.name}; got ${(held ?? value).type.name}`);
  };

  const root = trees.get(rootName) ?? fail(`${quote(rootName)} is an incomplete or empty template`);
  open({ nodes: root.nodes, dot: data });
  walk();
  return output.join("");
}

function* numbersBelow(end: Extract<Value, { data: bigint }>): Generator<readonly [Maybe, Maybe], undefined> {
  for (let i = 0n; i < end.data; i++) yield [undefined, { ...end, data: i }];
}

function* items(data: Slice | undefined): Generator<readonly [Maybe, Maybe], undefined> {
  if (data === undefined) return;
  for (let i = 0; i < data.length; i++) yield [int(i), data.backing[data.offset + i]];
}

const NIL_KINDS: ReadonlySet<Type["kind"]> = new Set(["slice", "map", "interface", "any value", "func"]);
const canBeNil = (type: Type): boolean => NIL_KINDS.has(type.kind);
const nilOf = (type: Type | undefined): Maybe => {
  const zero = type === undefined ? undefined : zeroOf(type);
  return zero?.type === ANY ? undefined : zero;
};

/** What Go calls a function that came through the pipe. */
function pipedName(value: Maybe): string {
  if (value === undefined) return "<invalid Value>";
  return value.kind === "string" ? value.data : `<${value.type.name} Value>`;
}

/** Steps that a call counts for, by the length of its arguments. */
function cost(values: readonly Maybe[]): number {
  let bytes = 0;
  for (const boxed of values) {
    const value = unboxed(boxed);
    if (value?.kind === "string") bytes += value.data.length;
    else if (value?.kind === "slice") bytes += 16 * (value.data?.length ?? 0);
    else if (value?.kind === "map") bytes += 16 * (value.data?.size ?? 0);
  }
  return 1 + Math.floor(bytes / BYTES_PER_STEP);
}
