/** A small world for tests of the language: data of every kind and a few functions. */
import {
  ANY,
  ANY_MAP,
  boxed,
  bytesOf,
  CallError,
  float64,
  type GoFunction,
  INT,
  int,
  type Limits,
  map,
  parseTemplate,
  STRING,
  STRINGS,
  slice,
  string,
  struct,
  type Type,
  textOf,
  type Value,
} from "./index.ts";

const PAIR: Type = { kind: "struct", name: "pair.Pair", fields: ["Key", "Value"] };
const entries = (values: Readonly<Record<string, Value | undefined>>): Value =>
  map(ANY_MAP, new Map(Object.entries(values).map(([key, value]) => [key, boxed(value)])));

/** `.n` 7, `.s` "text", `.f` 12.0, `.list` [a b], `.empty` [], `.m` map[x:1 y:2], `.null` nil, `.pair` {k v}. */
export const DATA: Value = entries({
  n: int(7),
  s: string("text"),
  f: float64(12),
  list: slice(STRINGS, [string("a"), string("b")]),
  empty: slice(STRINGS, []),
  m: entries({ y: int(2), x: int(1) }),
  null: undefined,
  pair: struct(PAIR, [string("k"), string("v")]),
});

/** `up TEXT`, `add INT INT`, `all TEXT…`, `fail TEXT`, `same ANY`. */
const FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  up: { parameters: [STRING], call: ([text]) => string(String(text?.data).toUpperCase()) },
  add: { parameters: [INT, INT], call: ([a, b]) => int((a?.data as bigint) + (b?.data as bigint)) },
  all: {
    parameters: [STRING],
    variadic: true,
    call: (texts) => string(texts.map((text) => text?.data).join("+")),
  },
  fail: {
    parameters: [STRING],
    call: ([text]) => {
      throw new CallError(text?.data as string);
    },
  },
  same: { parameters: [ANY], call: ([value]) => value },
};

/** What the template `t.tmpl` gives with the data: its text, or the message of its error. */
export function play(source: string, limits: Partial<Limits> = {}): string {
  try {
    const template = parseTemplate({ name: "t.tmpl", source: bytesOf(source), functions: FUNCTIONS });
    return textOf(template.render({ data: DATA, limits }));
  } catch (error) {
    return (error as Error).message;
  }
}
