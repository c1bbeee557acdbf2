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
import { deleteScalars, type MergeItem, mergeLists } from "./lists.ts";
import { listRule, mapRule, type TypeName, type TypeTable } from "./metadata.ts";
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
  const merged = mergeMaps(table, asObject(original, type, table), asObject(patch, type, table), type, "");
  return cleanedUp(merged) as T;
}

/** Applies a patch map to a map of a type; undefined where the schema does not say what is inside. */
function mergeMaps(
  table: TypeTable,
  original: JsonMap,
  patch: JsonMap,
  type: TypeName | undefined,
  path: string,
): JsonMap {
  const directive = own(patch, PATCH);
  if (directive !== undefined) return applyMapDirective(directive, patch, path);

  const mergeItem: MergeItem = (...item) => mergeMaps(table, ...item);
  const result = retainKeys(original, patch, path);
  const done = new Set([RETAIN_KEYS]);
  for (const [key] of entriesOf(patch)) {
    if (!isElementOrder(key)) continue;
    const { field, items } = mergeOrdered(table, result, patch, key, type, path, mergeItem);
    done.add(key);
    if (items === undefined) continue;
    setKey(result, field, items);
    done.add(field);
  }
  const rest = entriesOf(patch).filter(([key]) => !done.has(key));
  for (const [key, value] of rest) {
    if (!isPrimitiveDeletion(key)) mergeField(table, result, key, value, type, path);
  }
  for (const [key, value] of rest) {
    if (isPrimitiveDeletion(key)) deleteFromField(table, result, key, value, type, path);
  }
  return result;
}

/** Applies the value that the patch has for a key to the result. */
function mergeField(
  table: TypeTable,
  result: JsonMap,
  key: string,
  value: Json,
  type: TypeName | undefined,
  path: string,
): void {
  const current = own(result, key);
  if (value === null) delete result[key];
  else if (isMap(value) && current !== undefined && isMap(current)) {
    const rule = mapRule(table, type, key, path);
    const at = memberPath(path, key);
    setKey(
      result,
      key,
      rule.strategy === "replace" ? value : mergeMaps(table, current, value, rule.type, at),
    );
  } else if (Array.isArray(value) && Array.isArray(current)) {
    const rule = listRule(table, type, key, path);
    const at = memberPath(path, key);
    const mergeItem: MergeItem = (...item) => mergeMaps(table, ...item);
    setKey(
      result,
      key,
      rule.strategy === "merge" ? mergeLists(current, value, rule, at, mergeItem).items : value,
    );
  } else {
    const installed = withoutMarked(withoutNulls(value));
    if (installed === undefined) delete result[key];
    else setKey(result, key, installed);
  }
}

/** Removes scalars from a list, whatever the strategy of its field. What is no list stays as it is. */
function deleteFromField(
  table: TypeTable,
  result: JsonMap,
  key: string,
  value: Json,
  type: TypeName | undefined,
  path: string,
): void {
  const field = shortenedList(key, path);
  const current = own(result, field);
  if (value === null) delete result[field];
  else if (Array.isArray(value) && Array.isArray(current)) {
    listRule(table, type, field, path);
    setKey(result, field, deleteScalars(current, value, memberPath(path, key)));
  }
}
