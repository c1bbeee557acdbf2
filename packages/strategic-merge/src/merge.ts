import { BUILT_IN } from "./built-in.ts";
import {
  applyMapDirective,
  cleanedUp,
  isElementOrder,
  isPrimitiveDeletion,
  PATCH,
  RETAIN_KEYS,
  retainKeys,
  shortenedList,
  withoutMarked,
  withoutNulls,
} from "./directives.ts";
import { mergeOrdered } from "./element-order.ts";
import { entriesOf, isMap, type Json, type JsonMap, own, setKey } from "./json.ts";
import { deleteScalars, mergeLists } from "./lists.ts";
import { listRule, mapRule, type Place, type TypeName, type TypeTable } from "./metadata.ts";
import { asObject } from "./object.ts";
import { memberPath } from "./path.ts";

/**
 * Applies a strategic merge patch, as the API server and `kubectl patch` do, to a value of a type (`PodTemplateSpec`,
 * `apps.v1.StatefulSet`; see `typeForKind`). Neither argument is altered, and the result shares nothing with them.
 * No directive, and no null in a map, is left in the result. Null or absent stands for an empty object.
 *
 * Throws a StrategicMergeError when the patch is malformed, or names a type that the table does not hold.
 */
export function strategicMerge<T>(
  type: TypeName,
  original: T,
  patch: unknown,
  table: TypeTable = BUILT_IN,
): T {
  const root: Place = { table, type, path: "" };
  return cleanedUp(mergeMaps(root, asObject(original, type, table), asObject(patch, type, table))) as T;
}

/** Applies a patch map to the map at a place. */
function mergeMaps(place: Place, original: JsonMap, patch: JsonMap): JsonMap {
  const directive = own(patch, PATCH);
  if (directive !== undefined) return applyMapDirective(directive, patch, place.path);

  const result = retainKeys(original, patch, place.path);
  const done = new Set([RETAIN_KEYS]);
  for (const [key] of entriesOf(patch)) {
    if (!isElementOrder(key)) continue;
    const { field, items } = mergeOrdered(place, result, patch, key, mergeMaps);
    done.add(key);
    if (items === undefined) continue;
    setKey(result, field, items);
    done.add(field);
  }
  const rest = entriesOf(patch).filter(([key]) => !done.has(key));
  for (const [key, value] of rest) if (!isPrimitiveDeletion(key)) mergeField(place, result, key, value);
  for (const [key, value] of rest) if (isPrimitiveDeletion(key)) deleteFromField(place, result, key, value);
  return result;
}

/** Applies the value that the patch has for a key to the result. */
function mergeField(place: Place, result: JsonMap, key: string, value: Json): void {
  const current = own(result, key);
  if (value === null) {
    delete result[key];
  } else if (isMap(value) && isMap(current)) {
    const rule = mapRule(place, key);
    setKey(result, key, rule.strategy === "replace" ? value : mergeMaps(rule.place, current, value));
  } else if (Array.isArray(value) && Array.isArray(current)) {
    const rule = listRule(place, key);
    const merged = rule.strategy === "merge";
    setKey(result, key, merged ? mergeLists(rule, current, value, mergeMaps).items : value);
  } else {
    const installed = withoutMarked(withoutNulls(value));
    if (installed === undefined) delete result[key];
    else setKey(result, key, installed);
  }
}

/** Removes scalars from a list, whatever the strategy of its field. What is no list stays as it is. */
function deleteFromField(place: Place, result: JsonMap, key: string, value: Json): void {
  const field = shortenedList(key, place.path);
  const current = own(result, field);
  if (value === null) {
    delete result[field];
  } else if (Array.isArray(value) && Array.isArray(current)) {
    listRule(place, field);
    setKey(result, field, deleteScalars(current, value, memberPath(place.path, key)));
  }
}
