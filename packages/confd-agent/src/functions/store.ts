/** The keys and values that one rendering sees (confd's memkv), and the functions that read them. */
import {
  bool,
  CallError,
  elementsOf,
  type GoFunction,
  INT,
  int,
  STRING,
  STRINGS,
  slice,
  string,
  struct,
  type Type,
  type Value,
} from "@quartet/go-template";
import { basePath, cleanPath, compilePattern, dirPath, literalPrefix } from "./paths.ts";

/** Keys to values, byte strings both. */
export type Entries = ReadonlyMap<string, string>;

export const KV_PAIR: Type = { kind: "struct", name: "memkv.KVPair", fields: ["Key", "Value"] };
export const KV_PAIRS: Type = {
  kind: "slice",
  name: "memkv.KVPairs",
  underlying: "[]memkv.KVPair",
  element: KV_PAIR,
  methods: {
    Len: (pairs) => ({ parameters: [], call: () => int(pairsOf(pairs).length) }),
    Less: (pairs) => ({
      parameters: [INT, INT],
      call: ([i, j]) => bool(keyAt(pairs, i) < keyAt(pairs, j)),
    }),
    Swap: () => ({
      parameters: [INT, INT],
      unusable: "function Swap has 0 return values; should be 1 or 2",
      call: () => undefined,
    }),
  },
};
export const KV_PAIR_SLICE: Type = { kind: "slice", name: "[]memkv.KVPair", element: KV_PAIR };

export const kvPair = (key: string, value: string): Value => struct(KV_PAIR, [string(key), string(value)]);

const pairsOf = (pairs: Value): readonly Value[] => (pairs.kind === "slice" ? elementsOf(pairs.data) : []);
function keyAt(pairs: Value, at: Value | undefined): string {
  const list = pairsOf(pairs);
  const pair = list[Number(at?.data)];
  if (pair?.kind !== "struct") {
    throw new CallError(`runtime error: index out of range [${at?.data}] with length ${list.length}`);
  }
  return pair.data[0]?.data as string;
}

export interface Store {
  readonly get: (key: string) => string | undefined;
  /** Keys that match the pattern, in byte order. */
  readonly match: (pattern: string) => readonly (readonly [string, string])[];
  /** Names of the direct children of a path; its own name too when it is a key. */
  readonly list: (path: string) => readonly string[];
  /** Names of the direct children that have children. */
  readonly listDirectories: (path: string) => readonly string[];
}

export function createStore(entries: Entries): Store {
  const sorted = [...entries].sort(([a], [b]) => compareBytes(a, b));
  /** Entries whose keys begin with the prefix. */
  const withPrefix = (prefix: string): readonly (readonly [string, string])[] => {
    let low = 0;
    for (let high = sorted.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (sorted[middle]![0] < prefix) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < sorted.length && sorted[end]![0].startsWith(prefix)) end += 1;
    return sorted.slice(low, end);
  };
  return {
    get: (key) => entries.get(key),
    match: (pattern) => {
      if (sorted.length === 0) return [];
      const matches = compilePattern(pattern);
      return withPrefix(literalPrefix(pattern)).filter(([key]) => matches(key));
    },
    list: (path) => {
      const names = new Set<string>();
      const prefix = terms(path);
      for (const [key] of sorted) {
        if (key === path) names.add(basePath(key));
        else if (begins(terms(dirPath(key)), prefix)) names.add(childName(key, path));
      }
      return [...names].sort(compareBytes);
    },
    listDirectories: (path) => {
      const names = new Set<string>();
      const prefix = terms(path);
      for (const [key] of withPrefix(path)) {
        const parents = terms(dirPath(key));
        const name = parents[prefix.length];
        if (name !== undefined && begins(parents, prefix)) names.add(name);
      }
      return [...names].sort(compareBytes);
    },
  };
}

export const compareBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const terms = (path: string): string[] => cleanPath(path).split("/");
const begins = (path: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= path.length && prefix.every((part, index) => part === path[index]);

function childName(key: string, path: string): string {
  const rest = key.startsWith(path) ? key.slice(path.length) : key;
  return (rest.startsWith("/") ? rest.slice(1) : rest).split("/")[0] ?? "";
}

const text = (value: Value | undefined): string => value?.data as string;
/** The value of a key; one that is missing is an error. */
export const found = (store: Store, key: string): string => {
  const value = store.get(key);
  if (value === undefined) throw new CallError(`key does not exist: ${key}`, "key does not exist");
  return value;
};

/** The functions of the store, by their names in templates. */
export function storeFunctions(store: Store): Readonly<Record<string, GoFunction>> {
  const reading = (call: (key: string) => Value): GoFunction => ({
    parameters: [STRING],
    call: ([key]) => call(text(key)),
  });
  const strings = (values: readonly string[]): Value => slice(STRINGS, values.map(string), "appended");
  return {
    exists: reading((key) => bool(store.get(key) !== undefined)),
    get: reading((key) => kvPair(key, found(store, key))),
    getv: {
      parameters: [STRING, STRING],
      variadic: true,
      call: ([key, fallback]) =>
        string(store.get(text(key)) ?? (fallback?.data as string) ?? found(store, text(key))),
    },
    gets: reading((pattern) =>
      slice(
        KV_PAIRS,
        store.match(pattern).map(([key, value]) => kvPair(key, value)),
        "appended",
      ),
    ),
    getvs: reading((pattern) =>
      strings(
        store
          .match(pattern)
          .map(([, value]) => value)
          .sort(compareBytes),
      ),
    ),
    ls: reading((path) => strings(store.list(path))),
    lsdir: reading((path) => strings(store.listDirectories(path))),
  };
}
