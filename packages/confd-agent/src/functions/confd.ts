/** The functions of confd 0.16 that need nothing but their arguments. */
import {
  ANY,
  ANY_MAP,
  bool,
  boxed,
  CallError,
  elementsOf,
  type GoFunction,
  INT,
  INTS,
  int,
  map,
  STRING,
  STRINGS,
  slice,
  string,
  type Type,
  unboxed,
  type Value,
} from "@quartet/go-template";
import { decodeJsonArray, decodeJsonObject } from "./json.ts";
import { basePath, dirPath } from "./paths.ts";
import { KV_PAIR_SLICE } from "./store.ts";
import {
  atoi,
  decodeBase64,
  encodeBase64,
  parseBool,
  replace,
  split,
  toLower,
  toUpper,
  trimSuffix,
} from "./text.ts";

/** Longest sequence that `seq` makes. */
const MAX_SEQUENCE = 1_000_000n;

type Maybe = Value | undefined;
const data = (value: Maybe): string => value?.data as string;
const number = (value: Maybe): bigint => value?.data as bigint;

const onStrings = (count: number, call: (...texts: string[]) => Value): GoFunction => ({
  parameters: new Array<Type>(count).fill(STRING),
  call: (args) => call(...args.map(data)),
});
const onIntegers = (call: (a: bigint, b: bigint) => bigint): GoFunction => ({
  parameters: [INT, INT],
  call: ([a, b]) => int(call(number(a), number(b))),
});
const divisor = (value: bigint): bigint => {
  if (value === 0n) throw new CallError("runtime error: integer divide by zero");
  return value;
};

/** By their names in templates. */
export const CONFD_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  base: onStrings(1, (path) => string(basePath(path))),
  dir: onStrings(1, (path) => string(dirPath(path))),
  split: onStrings(2, (text, separator) => slice(STRINGS, split(text, separator).map(string))),
  join: {
    parameters: [STRINGS, STRING],
    call: ([parts, separator]) =>
      string(parts?.kind === "slice" ? elementsOf(parts.data).map(data).join(data(separator)) : ""),
  },
  toUpper: onStrings(1, (text) => string(toUpper(text))),
  toLower: onStrings(1, (text) => string(toLower(text))),
  contains: onStrings(2, (text, part) => bool(text.includes(part))),
  replace: {
    parameters: [STRING, STRING, STRING, INT],
    call: ([text, old, by, count]) => string(replace(data(text), data(old), data(by), number(count))),
  },
  trimSuffix: onStrings(2, (text, suffix) => string(trimSuffix(text, suffix))),
  json: onStrings(1, decodeJsonObject),
  jsonArray: onStrings(1, decodeJsonArray),
  map: { parameters: [ANY], variadic: true, call: createMap },
  base64Encode: onStrings(1, (text) => string(encodeBase64(text))),
  base64Decode: onStrings(1, (text) => string(decodeBase64(text))),
  parseBool: onStrings(1, (text) => bool(parseBool(text))),
  atoi: onStrings(1, (text) => int(atoi(text))),
  add: onIntegers((a, b) => a + b),
  sub: onIntegers((a, b) => a - b),
  mul: onIntegers((a, b) => a * b),
  div: onIntegers((a, b) => a / divisor(b)),
  mod: onIntegers((a, b) => a % divisor(b)),
  seq: { parameters: [INT, INT], call: ([first, last]) => sequence(number(first), number(last)) },
  reverse: { parameters: [ANY], call: ([value]) => boxed(reversed(unboxed(value))) },
  sortByLength: sorting(STRINGS, data),
  sortKVByLength: sorting(KV_PAIR_SLICE, (pair) => (pair.kind === "struct" ? data(pair.data[0]) : "")),
};

function createMap(args: readonly Maybe[]): Value {
  if (args.length % 2 !== 0) throw new CallError("invalid map call");
  const entries = new Map<string, Value>();
  for (let i = 0; i < args.length; i += 2) {
    const key = unboxed(args[i]);
    if (key?.kind !== "string") throw new CallError("map keys must be strings");
    entries.set(key.data, boxed(args[i + 1]));
  }
  return map(ANY_MAP, entries);
}

function sequence(first: bigint, last: bigint): Value {
  if (last < first) return slice(INTS, undefined);
  const count = last - first + 1n;
  if (count > MAX_SEQUENCE) throw new CallError(`more than ${MAX_SEQUENCE} elements: ${count}`);
  return slice(
    INTS,
    Array.from({ length: Number(count) }, (_, index) => int(first + BigInt(index))),
    "appended",
  );
}

function reversed(value: Maybe): Maybe {
  if (value?.kind !== "slice" || value.data === undefined) return value;
  const { offset, length, backing } = value.data;
  const reversedBacking = backing.toSpliced(offset, length, ...elementsOf(value.data).toReversed());
  return { ...value, data: { ...value.data, backing: reversedBacking } };
}

/** A stable sort by the length of what `key` gives. */
function sorting(type: Type, key: (element: Value) => string): GoFunction {
  return {
    parameters: [type],
    call: ([value]) => {
      if (value?.kind !== "slice" || value.data === undefined) return value;
      return slice(
        type,
        elementsOf(value.data).toSorted((a, b) => key(a).length - key(b).length),
      );
    },
  };
}
