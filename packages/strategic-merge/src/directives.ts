/** The keys of a patch that say how to merge rather than what. */
import { StrategicMergeError } from "./errors.ts";
import { entriesOf, isMap, type Json, type JsonMap, own, setKey } from "./json.ts";
import { memberPath } from "./path.ts";

/** On a map, or on an item of a list: `replace` or `delete`. */
export const PATCH: string = "$patch";
/** Names of all keys that may remain in a map. */
export const RETAIN_KEYS: string = "$retainKeys";
/** `$setElementOrder/<list>`: the order of the list's items. */
export const SET_ELEMENT_ORDER: string = "$setElementOrder";
/** `$deleteFromPrimitiveList/<list>`: scalars to remove from the list. */
export const DELETE_FROM_PRIMITIVE_LIST: string = "$deleteFromPrimitiveList";

const DIRECTIVE_MARK = "$";

export function isElementOrder(key: string): boolean {
  return key.startsWith(SET_ELEMENT_ORDER);
}

export function isPrimitiveDeletion(key: string): boolean {
  return key.startsWith(DELETE_FROM_PRIMITIVE_LIST);
}

/** The list that `$setElementOrder/<list>` at `path` orders. */
export function orderedList(key: string, path: string): string {
  const list = suffixOf(key, SET_ELEMENT_ORDER);
  if (list !== undefined) return list;
  throw new StrategicMergeError(
    "BadElementOrder",
    memberPath(path, key),
    `write ${SET_ELEMENT_ORDER}/<list>`,
  );
}

/** The list that `$deleteFromPrimitiveList/<list>` at `path` removes from. */
export function shortenedList(key: string, path: string): string {
  const list = suffixOf(key, DELETE_FROM_PRIMITIVE_LIST);
  if (list !== undefined) return list;
  const detail = `write ${DELETE_FROM_PRIMITIVE_LIST}/<list>`;
  throw new StrategicMergeError("BadPrimitiveList", memberPath(path, key), detail);
}

function suffixOf(key: string, directive: string): string | undefined {
  return key.startsWith(`${directive}/`) ? key.slice(directive.length + 1) : undefined;
}

/** A map that carries `$patch`, whatever its value. */
export function isMarked(value: Json): value is JsonMap {
  return isMap(value) && own(value, PATCH) !== undefined;
}

/** The outcome of `$patch` on a map that exists. */
export function applyMapDirective(directive: Json, patch: JsonMap, path: string): JsonMap {
  if (directive === "delete") return {};
  if (directive === "replace") return withoutKey(patch, PATCH);
  throw new StrategicMergeError("UnknownDirective", memberPath(path, PATCH), 'must be "replace" or "delete"');
}

/** The map without one of its keys. */
function withoutKey(map: JsonMap, key: string): JsonMap {
  const rest: JsonMap = {};
  for (const [name, value] of entriesOf(map)) if (name !== key) setKey(rest, name, value);
  return rest;
}

/** The keys of `original` that `$retainKeys` of the patch lets live; the patch may set no other. */
export function retainKeys(original: JsonMap, patch: JsonMap, path: string): JsonMap {
  const list = own(patch, RETAIN_KEYS);
  const kept: JsonMap = {};
  const retained = list === undefined ? undefined : retainedNames(list, path);
  if (retained !== undefined) {
    for (const [key, value] of entriesOf(patch)) {
      if (value === null || key === RETAIN_KEYS || isElementOrder(key) || isPrimitiveDeletion(key)) continue;
      if (retained.has(key)) continue;
      const detail = `is set but not listed in ${RETAIN_KEYS}; list it or remove it`;
      throw new StrategicMergeError("BadRetainKeys", memberPath(path, key), detail);
    }
  }
  for (const [key, value] of entriesOf(original)) {
    if (retained === undefined || retained.has(key)) setKey(kept, key, value);
  }
  return kept;
}

function retainedNames(list: Json, path: string): ReadonlySet<Json> {
  if (Array.isArray(list) && !list.some((name) => typeof name === "object" && name !== null))
    return new Set(list);
  throw new StrategicMergeError(
    "BadRetainKeys",
    memberPath(path, RETAIN_KEYS),
    "must be a list of key names",
  );
}

/** A value that is new to the original: maps marked with `$patch` in it have nothing to act on and go. */
export function withoutMarked(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutMarked).filter((item) => item !== undefined);
  if (!isMap(value)) return value;
  if (isMarked(value)) return undefined;
  const rest: JsonMap = {};
  for (const [key, member] of entriesOf(value)) {
    const kept = withoutMarked(member);
    if (kept !== undefined) setKey(rest, key, kept);
  }
  return rest;
}

/** A copy of the value without nulls in maps, at every depth. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const rest: JsonMap = {};
  for (const [key, member] of entriesOf(value)) if (member !== null) setKey(rest, key, withoutNulls(member));
  return rest;
}

/**
 * A copy of a merged value as the API server's typed decoding would leave it: no key that begins with `$`, no null in a
 * map, and no item of a list that is still marked with `$patch`.
 */
export function cleanedUp(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => !isMarked(item)).map(cleanedUp);
  if (!isMap(value)) return value;
  const clean: JsonMap = {};
  for (const [key, member] of entriesOf(value)) {
    if (member !== null && !key.startsWith(DIRECTIVE_MARK)) setKey(clean, key, cleanedUp(member));
  }
  return clean;
}
