/** The functions of the template language itself. */
import { equalsAny, isLess, isLessOrEqual } from "./compare.ts";
import { escapeHtml, escapeJs, escapeQuery } from "./escape.ts";
import { sprint, sprintf, sprintln } from "./printf.ts";
import {
  ANY,
  ANY_VALUE,
  bool,
  CallError,
  type GoFunction,
  int,
  isTrue,
  STRING,
  string,
  type Type,
  UINT8,
  unboxed,
  type Value,
  zeroOf,
} from "./types.ts";

type Maybe = Value | undefined;
type Call = (args: readonly Maybe[]) => Maybe;

const fixed = (count: number, call: Call): GoFunction => ({
  parameters: new Array<Type>(count).fill(ANY_VALUE),
  call,
});
const atLeastOne = (call: Call): GoFunction => ({ parameters: [ANY_VALUE, ANY_VALUE], variadic: true, call });
const printing = (print: (args: readonly Maybe[]) => string): GoFunction => ({
  parameters: [ANY],
  variadic: true,
  call: (args) => string(print(args)),
});
/** The text of arguments that is then escaped; nil among them reads as where a value is printed. */
const shown = (args: readonly Maybe[]): string =>
  sprint(args.map((arg) => (unboxed(arg) === undefined ? string("<no value>") : arg)));
const neverCalled: Call = () => {
  throw new CallError("evaluated by the engine");
};

/** By name. */
export const BUILTINS: ReadonlyMap<string, GoFunction> = new Map<string, GoFunction>([
  ["and", atLeastOne(neverCalled)],
  ["or", atLeastOne(neverCalled)],
  ["not", fixed(1, ([value]) => bool(!isTrue(value)))],
  ["eq", atLeastOne(([first, ...others]) => bool(equalsAny(first, others)))],
  ["ne", fixed(2, ([a, b]) => bool(!equalsAny(a, [b])))],
  ["lt", fixed(2, ([a, b]) => bool(isLess(a, b)))],
  ["le", fixed(2, ([a, b]) => bool(isLessOrEqual(a, b)))],
  ["gt", fixed(2, ([a, b]) => bool(!isLessOrEqual(a, b)))],
  ["ge", fixed(2, ([a, b]) => bool(!isLess(a, b)))],
  ["len", fixed(1, ([value]) => int(length(value)))],
  ["index", atLeastOne(([item, ...indexes]) => index(item, indexes))],
  ["slice", atLeastOne(([item, ...indexes]) => sliced(item, indexes))],
  ["print", printing(sprint)],
  ["println", printing(sprintln)],
  [
    "printf",
    {
      parameters: [STRING, ANY],
      variadic: true,
      call: ([format, ...args]) => string(sprintf(format?.data as string, args)),
    },
  ],
  ["html", printing((args) => escapeHtml(shown(args)))],
  ["js", printing((args) => escapeJs(shown(args)))],
  ["urlquery", printing((args) => escapeQuery(shown(args)))],
  ["call", atLeastOne(([name, called, ...args]) => callValue(name?.data as string, called, args))],
]);

function length(boxed: Maybe): number {
  if (boxed?.kind === "interface" && boxed.data === undefined) throw new CallError("len of nil pointer");
  const value = unboxed(boxed);
  switch (value?.kind) {
    case "string":
      return value.data.length;
    case "slice":
      return value.data?.length ?? 0;
    case "map":
      return value.data?.size ?? 0;
    default:
      if (value === undefined) throw new CallError("reflect: call of reflect.Value.Type on zero Value");
      throw new CallError(`len of type ${value.type.name}`);
  }
}

function index(boxedItem: Maybe, indexes: readonly Maybe[]): Maybe {
  let item: Maybe = unboxed(boxedItem);
  if (item === undefined) throw new CallError("index of untyped nil");
  for (const boxed of indexes) {
    const key = unboxed(boxed);
    const held: Maybe = unboxed(item);
    if (held === undefined) throw new CallError("index of nil pointer");
    item = elementAt(held, key);
  }
  return item;
}

function elementAt(item: Value, key: Maybe): Maybe {
  switch (item.kind) {
    case "string": {
      const at = position(key, item.data.length);
      if (at === item.data.length) throw new CallError("reflect: string index out of range");
      return { kind: "uint8", type: UINT8, data: BigInt(item.data.charCodeAt(at)) };
    }
    case "slice": {
      const { backing, offset, length: size } = item.data ?? { backing: [], offset: 0, length: 0 };
      const at = position(key, size);
      if (at === size) throw new CallError("reflect: slice index out of range");
      return backing[offset + at];
    }
    case "map":
      if (key === undefined) throw new CallError("value is nil; should be of type string");
      if (key.kind !== "string") throw new CallError(`value has type ${key.type.name}; should be string`);
      return item.data?.get(key.data) ?? zeroOf(item.type.element ?? ANY);
    default:
      throw new CallError(`can't index item of type ${item.type.name}`);
  }
}

/** An index as a number within `capacity`. */
function position(key: Maybe, capacity: number): number {
  if (key === undefined) throw new CallError("cannot index slice/array with nil");
  if (key.kind !== "int" && key.kind !== "uint8" && key.kind !== "uint16") {
    throw new CallError(`cannot index slice/array with type ${key.type.name}`);
  }
  if (key.data < 0n || key.data > BigInt(capacity)) throw new CallError(`index out of range: ${key.data}`);
  return Number(key.data);
}

function sliced(boxedItem: Maybe, indexes: readonly Maybe[]): Maybe {
  const item = unboxed(boxedItem);
  if (item === undefined) throw new CallError("slice of untyped nil");
  if (indexes.length > 3) throw new CallError(`too many slice indexes: ${indexes.length}`);
  if (item.kind !== "string" && item.kind !== "slice") {
    throw new CallError(`can't slice item of type ${item.type.name}`);
  }
  if (item.kind === "string" && indexes.length === 3) throw new CallError("cannot 3-index slice a string");
  const size = item.data?.length ?? 0;
  const capacity = item.kind === "string" ? size : (item.data?.capacity ?? 0);
  const bounds = [0, size, capacity];
  for (const [at, key] of indexes.entries()) bounds[at] = position(key, capacity);
  const [from = 0, to = 0, end = 0] = bounds;
  if (from > to) throw new CallError(`invalid slice index: ${from} > ${to}`);
  if (to > end) throw new CallError(`invalid slice index: ${to} > ${end}`);
  if (item.kind === "string") return string(item.data.slice(from, to));
  if (item.data === undefined) return item;
  const { backing, offset } = item.data;
  const window = { backing, offset: offset + from, length: to - from, capacity: end - from };
  return { kind: "slice", type: item.type, data: window };
}

function callValue(name: string, boxed: Maybe, args: readonly Maybe[]): Maybe {
  const called = unboxed(boxed);
  if (called === undefined) throw new CallError("call of nil");
  if (called.kind !== "func") throw new CallError(`non-function ${name} of type ${called.type.name}`);
  const { parameters, variadic = false } = called.data;
  const wanted = variadic ? parameters.length - 1 : parameters.length;
  if (variadic ? args.length < wanted : args.length !== wanted) {
    const least = variadic ? "at least " : "";
    throw new CallError(`wrong number of args for ${name}: got ${args.length} want ${least}${wanted}`);
  }
  return called.data.call(args);
}
