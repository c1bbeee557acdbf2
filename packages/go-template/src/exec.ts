/** Rendering: walks the trees of a template with Go's semantics. */
import { createEvaluator } from "./evaluate.ts";
import {
  type IfNode,
  type Node,
  nodeText,
  type RangeNode,
  type TemplateNode,
  type WithNode,
} from "./nodes.ts";
import { shownValue, sortedEntries, sprint } from "./printf.ts";
import { quote } from "./quote.ts";
import { createRun, type ExecOptions, type Maybe } from "./run.ts";
import { int, isTrue, type Slice, string, unboxed, type Value } from "./types.ts";

/** A body that is being walked. */
interface Frame {
  readonly nodes: readonly Node[];
  /** Index of the next node. */
  at: number;
  dot: Maybe;
  /** Of a loop: sets up the next round, or says that there is none. */
  readonly loop?: () => boolean;
  /** Of a loop's other branch, which `break` leaves as it does the loop. */
  readonly isElse?: boolean;
  /** Undoes what the body set up. */
  readonly end?: () => void;
}

/**
 * Renders with dot set to `data`; the result is a byte string. What is open is kept in a list of frames: depth costs
 * memory of it, never of the call stack.
 */
export function execute(data: Maybe, options: ExecOptions): string {
  const run = createRun(data, options);
  const evaluate = createEvaluator(run);
  const frames: Frame[] = [];
  let depth = 0;

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
    run.step();
    run.at = node;
    switch (node.kind) {
      case "text":
        run.write(node.text);
        break;
      case "action": {
        const value = evaluate(dot, node.pipe);
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
        while (frames.at(-1)?.loop === undefined && frames.at(-1)?.isElse !== true) close();
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
    run.variables.length = mark;
  };
  const openBranch = (dot: Maybe, node: IfNode | WithNode): void => {
    const end = forget(run.variables.length);
    const value = evaluate(dot, node.pipe);
    if (isTrue(value)) open({ nodes: node.list.nodes, dot: node.kind === "with" ? value : dot, end });
    else open({ nodes: node.elseList?.nodes ?? [], dot, end });
  };
  const openRange = (dot: Maybe, node: RangeNode): void => {
    const end = forget(run.variables.length);
    const value = unboxed(evaluate(dot, node.pipe));
    const mark = run.variables.length;
    const { variables: declared, assigns } = node.pipe;
    const [first, second] = declared;
    const elements = elementsFor(value, declared.length);
    /** Goes on to the next element, if there is one. */
    const loop = (): boolean => {
      run.variables.length = mark;
      const { done, value: item } = elements.next();
      if (done === true) return false;
      run.step();
      const [index, element] = item;
      if (assigns) {
        if (first !== undefined) run.variable(first.names[0]!).value = second === undefined ? element : index;
        if (second !== undefined) run.variable(second.names[0]!).value = element;
      } else {
        if (first !== undefined) run.variables[mark - 1]!.value = element;
        if (second !== undefined) run.variables[mark - 2]!.value = index;
      }
      frames.at(-1)!.dot = element;
      return true;
    };
    open({ nodes: node.list.nodes, dot, loop, end });
    if (loop()) return;
    frames.pop();
    open({ nodes: node.elseList?.nodes ?? [], dot, isElse: true, end });
  };
  const elementsFor = (value: Maybe, names: number): Iterator<readonly [Maybe, Maybe], undefined> => {
    switch (value?.kind) {
      case undefined:
        return [].values();
      case "int":
      case "uint8":
      case "uint16":
        if (names > 1) {
          const rest = "to iterate over more than one variable";
          run.fail(`can't use ${shownValue(value)} ${rest}`, `can't use ${value.type.name} ${rest}`);
        }
        return numbersBelow(value);
      case "slice":
        return items(value.data);
      case "map":
        return sortedEntries(value.data)
          .map(([key, element]) => [string(key), element] as const)
          .values();
      default:
        return run.fail(
          `range can't iterate over ${shownValue(value)}`,
          `range can't iterate over ${value?.type.name ?? "nil"}`,
        );
    }
  };
  const openTemplate = (dot: Maybe, node: TemplateNode): void => {
    const tree = run.trees.get(node.name) ?? run.fail(`template ${quote(node.name)} not defined`);
    if (depth >= run.limits.depth) run.limit(`exceeded maximum template depth (${run.limits.depth})`);
    const value = node.pipe === undefined ? undefined : evaluate(dot, node.pipe);
    const { variables, templateName } = run;
    run.variables = [{ name: "$", value }];
    run.templateName = node.name;
    depth += 1;
    const end = (): void => {
      depth -= 1;
      Object.assign(run, { variables, templateName });
    };
    open({ nodes: tree.nodes, dot: value, end });
  };
  const print = (node: Node, value: Maybe): void => {
    run.at = node;
    if (value?.kind === "func") run.fail(`can't print ${nodeText(node)} of type ${value.type.name}`);
    const text = value === undefined ? "<no value>" : sprint([value]);
    run.write(text);
    run.onPrint(text);
  };

  const root = run.trees.get(run.name) ?? run.fail(`${quote(run.name)} is an incomplete or empty template`);
  open({ nodes: root.nodes, dot: data });
  walk();
  return run.output();
}

function* numbersBelow(end: Extract<Value, { data: bigint }>): Generator<readonly [Maybe, Maybe], undefined> {
  for (let i = 0n; i < end.data; i++) yield [undefined, { ...end, data: i }];
}

function* items(data: Slice | undefined): Generator<readonly [Maybe, Maybe], undefined> {
  if (data === undefined) return;
  for (let i = 0; i < data.length; i++) yield [int(i), data.backing[data.offset + i]];
}
