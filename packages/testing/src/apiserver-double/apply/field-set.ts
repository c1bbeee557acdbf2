/**
 * Sets of field paths, the currency of server-side apply. Keys of a level are written as in `fieldsV1`:
 * `f:name` a field, `k:{"name":"x"}` an element of a keyed list, `v:"x"` an element of a set.
 */
import { isRecord, type JsonObject, setKey } from "../json.ts";

export interface FieldNode {
  /** The path that ends here belongs to the set. */
  self: boolean;
  below: FieldSet;
}

export type FieldSet = Map<string, FieldNode>;

export function emptySet(): FieldSet {
  return new Map();
}

/** The node of a key, made when it is missing. */
export function nodeAt(set: FieldSet, key: string): FieldNode {
  let node = set.get(key);
  if (node === undefined) {
    node = { self: false, below: new Map() };
    set.set(key, node);
  }
  return node;
}

export function isEmpty(set: FieldSet): boolean {
  for (const node of set.values()) if (node.self || !isEmpty(node.below)) return false;
  return true;
}

type Keep = (left: boolean, right: boolean) => boolean;

function combine(left: FieldSet | undefined, right: FieldSet | undefined, keep: Keep): FieldSet {
  const result: FieldSet = new Map();
  const keys = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  for (const key of keys) {
    const a = left?.get(key);
    const b = right?.get(key);
    const self = keep(a?.self ?? false, b?.self ?? false);
    const below = combine(a?.below, b?.below, keep);
    if (self || below.size > 0) result.set(key, { self, below });
  }
  return result;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  return combine(left, right, (a, b) => a || b);
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return combine(left, right, (a, b) => a && b);
}

/** What is in the left set and not in the right one; paths below a path of the right set stay. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return combine(left, right, (a, b) => a && !b);
}

export function sameSet(left: FieldSet, right: FieldSet): boolean {
  return isEmpty(difference(left, right)) && isEmpty(difference(right, left));
}

/** Cuts the given subtrees off. */
export function without(set: FieldSet, paths: readonly (readonly string[])[]): FieldSet {
  const result = combine(set, undefined, (a) => a);
  for (const path of paths) {
    let level: FieldSet | undefined = result;
    for (const key of path.slice(0, -1)) level = level?.get(key)?.below;
    level?.delete(path.at(-1)!);
  }
  return combine(result, undefined, (a) => a);
}

/** All paths of a set, each as the list of its keys. */
export function pathsOf(set: FieldSet, prefix: readonly string[] = []): string[][] {
  return [...set].flatMap(([key, node]) => {
    const path = [...prefix, key];
    return [...(node.self ? [path] : []), ...pathsOf(node.below, path)];
  });
}

/** A path in the form of error messages: `.spec.containers[name="c"].image`. */
export function showPath(path: readonly string[]): string {
  return path
    .map((key) => {
      if (key.startsWith("f:")) return `.${key.slice(2)}`;
      if (key.startsWith("v:")) return `[=${key.slice(2)}]`;
      const keys = JSON.parse(key.slice(2)) as JsonObject;
      const parts = Object.entries(keys).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return `[${parts.join(",")}]`;
    })
    .join("");
}

export function fromFieldsV1(fields: unknown): FieldSet {
  const set: FieldSet = new Map();
  if (!isRecord(fields)) return set;
  for (const [key, value] of Object.entries(fields)) {
    if (key === "." || !isRecord(value)) continue;
    const below = fromFieldsV1(value);
    set.set(key, { self: Object.hasOwn(value, ".") || Object.keys(value).length === 0, below });
  }
  return set;
}

export function toFieldsV1(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  for (const key of [...set.keys()].sort()) {
    const node = set.get(key)!;
    const below = toFieldsV1(node.below);
    setKey(fields, key, node.self && Object.keys(below).length > 0 ? { ".": {}, ...below } : below);
  }
  return fields;
}
