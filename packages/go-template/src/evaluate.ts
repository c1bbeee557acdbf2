/** Evaluates pipelines with Go's semantics. */
import { canBeNil, constant, fitting, literal, nilOf } from "./fit.ts";
import {
  type Argument,
  type ChainNode,
  type CommandNode,
  type FieldNode,
  type IdentifierNode,
  nodeText,
  type PipeNode,
  type VariableNode,
} from "./nodes.ts";
import { quote } from "./quote.ts";
import type { Maybe, Run } from "./run.ts";
import { bool, CallError, type GoFunction, isTrue, string, type Type, unboxed } from "./types.ts";

/** No value came through the pipe; different from one that is nil. */
const MISSING = Symbol("missing");
type Final = Maybe | typeof MISSING;

/** The value of a pipeline; what it declares or assigns is done. */
export type Evaluate = (dot: Maybe, pipe: PipeNode) => Maybe;

export function createEvaluator(run: Run): Evaluate {
  const pipeline = (dot: Maybe, pipe: PipeNode): Maybe => {
    run.at = pipe;
    let value: Final = MISSING;
    for (const command of pipe.commands) value = unboxed(evalCommand(dot, command, value));
    const result = value === MISSING ? undefined : value;
    for (const { names } of pipe.variables) {
      if (pipe.assigns) run.variable(names[0]!).value = result;
      else run.variables.push({ name: names[0]!, value: result });
    }
    return result;
  };
  const evalCommand = (dot: Maybe, command: CommandNode, final: Final): Maybe => {
    run.step();
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
        return pipeline(dot, first);
      case "variable":
        return evalVariable(dot, first, args, final);
    }
    run.at = first;
    notAFunction(args, final);
    switch (first.kind) {
      case "bool":
        return bool(first.value);
      case "dot":
        return dot;
      case "nil":
        return run.fail("nil is not a command");
      case "number":
        return constant(run, first);
      case "string":
        return string(first.text);
    }
  };
  const notAFunction = (args: readonly Argument[], final: Final): void => {
    if (args.length > 1 || final !== MISSING) {
      run.fail(`can't give argument to non-function ${nodeText(args[0]!)}`);
    }
  };
  // Fields, variables, functions.

  const evalField = (dot: Maybe, node: FieldNode, args: readonly Argument[], final: Final): Maybe => {
    run.at = node;
    return fieldChain(dot, dot, node, node.names, args, final);
  };
  const evalChain = (dot: Maybe, node: ChainNode, args: readonly Argument[], final: Final): Maybe => {
    run.at = node;
    const value = argument(dot, undefined, node.node);
    return fieldChain(dot, value, node, node.names, args, final);
  };
  const evalVariable = (dot: Maybe, node: VariableNode, args: readonly Argument[], final: Final): Maybe => {
    run.at = node;
    const { value } = run.variable(node.names[0]!);
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
    if (value === undefined) return run.fail(`nil pointer evaluating ${typeName}.${name}`);
    const { methods } = value.type;
    if (methods !== undefined && Object.hasOwn(methods, name)) {
      return call(dot, methods[name]!(value), false, node, name, args, final);
    }
    const hasArguments = args.length > 1 || final !== MISSING;
    if (value.kind === "struct") {
      const index = (value.type.fields ?? []).indexOf(name);
      if (index !== -1) {
        if (hasArguments) run.fail(`${name} has arguments but cannot be invoked as function`);
        return value.data[index];
      }
    }
    if (value.kind === "map") {
      if (hasArguments) run.fail(`${name} is not a method but has arguments`);
      return value.data?.get(name);
    }
    return run.fail(`can't evaluate field ${name} in type ${typeName}`);
  };
  const evalFunction = (
    dot: Maybe,
    node: IdentifierNode,
    whole: Argument | CommandNode,
    args: readonly Argument[],
    final: Final,
  ): Maybe => {
    run.at = node;
    const called = run.functions.get(node.name) ?? run.fail(`${quote(node.name)} is not a defined function`);
    return call(dot, called, run.builtins.has(node.name), whole, node.name, args, final);
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
      run.fail(`wrong number of args for ${name}: want at least ${fixed} got ${args.length}`);
    }
    if (!variadic && given !== fixed)
      run.fail(`wrong number of args for ${name}: want ${fixed} got ${given}`);
    if (called.unusable !== undefined) run.fail(called.unusable);
    if (isBuiltin && (name === "and" || name === "or")) return shortCircuit(dot, name, args, final);

    const typeAt = (index: number): Type => parameters[Math.min(index, parameters.length - 1)]!;
    const values: Maybe[] = args.map((arg, index) => argument(dot, typeAt(index), arg));
    if (final !== MISSING) values.push(fitting(run, final, typeAt(values.length)));
    if (isBuiltin && name === "call") {
      values.unshift(string(args[0] === undefined ? pipedName(final as Maybe) : nodeText(args[0])));
    }
    run.called(values);
    let result: Maybe;
    try {
      result = called.call(values);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      run.at = node;
      const called = `error calling ${name}: `;
      run.fail(called + error.message, called + error.withoutValues);
    }
    run.made(result);
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

  /** Evaluates an argument for a parameter; without a type any value will do. */
  const argument = (dot: Maybe, type: Type | undefined, node: Argument): Maybe => {
    run.at = node;
    switch (node.kind) {
      case "dot":
        return fitting(run, dot, type);
      case "nil":
        return type === undefined || canBeNil(type)
          ? nilOf(type)
          : run.fail(`cannot assign nil to ${type.name}`);
      case "field":
        return fitting(run, evalField(dot, node, [node], MISSING), type);
      case "variable":
        return fitting(run, evalVariable(dot, node, [], MISSING), type);
      case "pipe":
        return fitting(run, pipeline(dot, node), type);
      case "identifier":
        return fitting(run, evalFunction(dot, node, node, [], MISSING), type);
      case "chain":
        return fitting(run, evalChain(dot, node, [], MISSING), type);
    }
    return literal(run, node, type);
  };

  return pipeline;
}

/** What Go calls a function that came through the pipe. */
function pipedName(value: Maybe): string {
  if (value === undefined) return "<invalid Value>";
  return value.kind === "string" ? value.data : `<${value.type.name} Value>`;
}
