/** Functions beyond those of confd 0.16: fallbacks, JSON, words, lists and maps, patterns, digests. */
import { createHash } from "node:crypto";
import {
  ANY,
  ANY_MAP,
  ANYS,
  BOOL,
  bool,
  boxed,
  bytesOf,
  CallError,
  elementsOf,
  type GoFunction,
  INT,
  isTrue,
  quote,
  STRING,
  STRINGS,
  slice,
  sprint,
  string,
  type Type,
  textOf,
  unboxed,
  type Value,
} from "@quartet/go-template";
import { RE2JS } from "re2js";
import { encodeJson } from "./encode-json.ts";
import { decodeJson } from "./json.ts";

/** Longest text that `repeat` and `indent` make. */
const MAX_TEXT = 16 * 1024 * 1024;

type Maybe = Value | undefined;
const bytes = (value: Maybe): string => value?.data as string;

const onStrings = (count: number, call: (...texts: string[]) => Value): GoFunction => ({
  parameters: new Array<Type>(count).fill(STRING),
  call: (args) => call(...args.map(bytes)),
});
const onValues = (parameters: readonly Type[], call: (...values: Maybe[]) => Maybe): GoFunction => ({
  parameters,
  call: (args) => call(...args),
});
const variadic = (parameters: readonly Type[], call: (values: readonly Maybe[]) => Maybe): GoFunction => ({
  parameters,
  variadic: true,
  call,
});

/** By their names in templates. */
export const MORE_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  default: onValues([ANY, ANY], (fallback, value) => boxed(isTrue(value) ? value : fallback)),
  ternary: onValues([ANY, ANY, BOOL], (yes, no, condition) => boxed(isTrue(condition) ? yes : no)),
  coalesce: variadic([ANY], (values) => boxed(values.find(isTrue))),
  empty: onValues([ANY], (value) => bool(!isTrue(value))),
  toJson: onValues([ANY], (value) => string(encodeJson(value))),
  toPrettyJson: onValues([ANY], (value) => string(encodeJson(value, 2))),
  fromJson: onStrings(1, (text) => boxed(decodeJson(text))),
  indent: onValues([INT, STRING], (width, text) => string(indented(width, bytes(text)))),
  nindent: onValues([INT, STRING], (width, text) => string(`\n${indented(width, bytes(text))}`)),
  quote: onValues([ANY], (value) => string(quote(sprint([value])))),
  squote: onValues([ANY], (value) => string(`'${sprint([value])}'`)),
  trimPrefix: onStrings(2, (text, prefix) =>
    string(text.startsWith(prefix) ? text.slice(prefix.length) : text),
  ),
  repeat: onValues([INT, STRING], (count, text) => string(repeated(bytes(text), Number(count?.data)))),
  nospace: onStrings(1, (text) => string(text.replace(/[ \t\r\n\v\f]/g, ""))),
  snakecase: onStrings(1, (text) => string(words(text).join("_"))),
  kebabcase: onStrings(1, (text) => string(words(text).join("-"))),
  camelcase: onStrings(1, (text) => string(words(text).map(capital).join(""))),
  regexMatch: onStrings(2, (pattern, text) => bool(compiled(pattern).matcher(textOf(text)).find())),
  regexFind: onStrings(2, (pattern, text) => string(firstMatch(pattern, text))),
  regexReplaceAll: onStrings(3, (pattern, text, by) =>
    string(bytesOf(compiled(pattern).matcher(textOf(text)).replaceAll(textOf(by)))),
  ),
  list: variadic([ANY], (values) => slice(ANYS, values.map(boxed))),
  append: onValues([ANY, ANY], (list, value) => slice(ANYS, [...itemsOf(list).map(boxed), boxed(value)])),
  hasKey: onValues([ANY_MAP, STRING], (map, key) => bool(entriesOf(map).has(bytes(key)))),
  keys: onValues([ANY_MAP], (map) => slice(STRINGS, sortedKeys(map).map(string))),
  values: onValues([ANY_MAP], (map) =>
    slice(
      ANYS,
      sortedKeys(map).map((key) => boxed(entriesOf(map).get(key))),
    ),
  ),
  pluck: variadic([STRING, ANY_MAP], ([key, ...maps]) =>
    slice(
      ANYS,
      maps
        .filter((map) => entriesOf(map).has(bytes(key)))
        .map((map) => boxed(entriesOf(map).get(bytes(key)))),
    ),
  ),
  sha256sum: onStrings(1, (text) => string(createHash("sha256").update(text, "latin1").digest("hex"))),
};

const entriesOf = (value: Maybe): ReadonlyMap<string, Value> =>
  value?.kind === "map" && value.data !== undefined ? value.data : new Map();
const sortedKeys = (value: Maybe): string[] => [...entriesOf(value).keys()].sort();

function itemsOf(boxedList: Maybe): readonly Value[] {
  const list = unboxed(boxedList);
  if (list === undefined) return [];
  if (list.kind !== "slice") throw new CallError(`not a list: ${list.type.name}`);
  return elementsOf(list.data);
}

function repeated(text: string, count: number): string {
  if (count < 0) throw new CallError("negative count");
  if (text.length * count > MAX_TEXT) throw new CallError(`more than ${MAX_TEXT} bytes`);
  return text.repeat(count);
}

function indented(width: Maybe, text: string): string {
  const lines = text.split("\n");
  const space = repeated(" ", Number(width?.data));
  if (space.length * lines.length > MAX_TEXT) throw new CallError(`more than ${MAX_TEXT} bytes`);
  return lines.map((line) => space + line).join("\n");
}

/** Words of a name in any style, in small letters. */
const words = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A pattern in RE2's syntax, which matches in linear time. */
function compiled(pattern: string): RE2JS {
  try {
    return RE2JS.compile(textOf(pattern));
  } catch (error) {
    throw new CallError(
      bytesOf(`regular expression: ${error instanceof Error ? error.message : String(error)}`),
    );
  }
}

function firstMatch(pattern: string, text: string): string {
  const matcher = compiled(pattern).matcher(textOf(text));
  return matcher.find() ? bytesOf(matcher.group() ?? "") : "";
}
