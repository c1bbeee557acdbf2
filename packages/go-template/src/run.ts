/** The state of one rendering: what it has written and used, where it stands, and the variables in scope. */
import { LimitError, TemplateError } from "./errors.ts";
import { BYTES_PER_STEP, type Limits } from "./limits.ts";
import { type Argument, type CommandNode, type Node, nodeText } from "./nodes.ts";
import type { Trees } from "./parse.ts";
import { quote } from "./quote.ts";
import { type GoFunction, unboxed, type Value } from "./types.ts";
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
  /** Told of each text that an action prints. */
  readonly onPrint: (text: string) => void;
}

/** A value, or none. */
export type Maybe = Value | undefined;

export interface Variable {
  readonly name: string;
  value: Maybe;
}

export interface Run extends ExecOptions {
  /** Where it stands, for errors. */
  at: Argument | CommandNode | Node | undefined;
  /** The tree that is walked, for errors. */
  templateName: string;
  variables: Variable[];
  /** Ends the rendering with an error at this place; `withoutValues` is the problem without any value in it. */
  fail(problem: string, withoutValues?: string): never;
  /** The same for what exceeds a limit. */
  limit(problem: string): never;
  step(count?: number): void;
  /** Counts a call with its arguments, and the text that came of it. */
  called(args: readonly Maybe[]): void;
  made(result: Maybe): void;
  write(piece: string): void;
  variable(name: string): Variable;
  output(): string;
}

export function createRun(data: Maybe, options: ExecOptions): Run {
  const { name: rootName, text, limits } = options;
  const output: string[] = [];
  let written = 0;
  let steps = 0;
  let made = 0;

  const message = (problem: string): string => {
    const { at, templateName } = run;
    if (at === undefined) return textOf(`template: ${templateName}: ${problem}`);
    const before = text.slice(0, at.position);
    const line = before.split("\n").length;
    const column = before.length - (before.lastIndexOf("\n") + 1);
    return textOf(
      `template: ${rootName}:${line}:${column}: executing ${quote(templateName)} at <${nodeText(at)}>: ${problem}`,
    );
  };
  const run: Run = {
    ...options,
    at: undefined,
    templateName: rootName,
    variables: [{ name: "$", value: data }],
    fail: (problem, withoutValues = problem) => {
      throw new TemplateError(message(problem), message(withoutValues));
    },
    limit: (problem) => {
      throw new LimitError(message(problem));
    },
    step: (count = 1) => {
      steps += count;
      if (steps > limits.steps) run.limit(`stopped after ${limits.steps} steps: does the template loop?`);
    },
    called: (args) => run.step(cost(args)),
    made: (result) => {
      if (result?.kind !== "string") return;
      made += result.data.length;
      if (made > limits.madeBytes) run.limit(`functions made more than ${limits.madeBytes} bytes of text`);
    },
    write: (piece) => {
      written += piece.length;
      if (written > limits.outputBytes) run.limit(`rendered text exceeds ${limits.outputBytes} bytes`);
      output.push(piece);
    },
    variable: (name) => {
      const { variables } = run;
      for (let i = variables.length - 1; i >= 0; i--) {
        if (variables[i]!.name === name) return variables[i]!;
      }
      return run.fail(`undefined variable: ${name}`);
    },
    output: () => output.join(""),
  };
  return run;
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
