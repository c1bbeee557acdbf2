/** The difference between two values of a type, as a strategic merge patch. */

import { diffLists } from "./diff-lists.ts";
import { DELETE_FROM_PRIMITIVE_LIST, RETAIN_KEYS, SET_ELEMENT_ORDER } from "./directives.ts";
import { entriesOf, equal, isMap, type Json, type JsonMap, own, setKey } from "./json.ts";
import { listRule, mapRule, type TypeName, type TypeTable } from "./metadata.ts";
import { memberPath } from "./path.ts";

/** Which part of a difference is wanted. */
export interface DiffScope {
  /** What was added or got another value. */
  changes: boolean;
  /** What is gone. */
  deletions: boolean;
}

/** A patch that leads from one map to the other. `retain` asks for `$retainKeys`, as the field's strategy demands. */
export function diffMaps(
  table: TypeTable,
  original: JsonMap,
  modified: JsonMap,
  type: TypeName | undefined,
  scope: DiffScope,
  retain: boolean,
  path: string,
): JsonMap {
  const patch: JsonMap = {};
  for (const [key, value] of entriesOf(modified)) {
    const before = own(original, key);
    if (before !== undefined && equal(before, value)) continue;
    if (before !== undefined && isMap(before) && isMap(value)) {
      diffMapField(table, patch, key, before, value, type, scope, path);
    } else if (Array.isArray(before) && Array.isArray(value)) {
      diffListField(table, patch, key, before, value, type, scope, path);
    } else if (scope.changes) {
      setKey(patch, key, value);
    }
  }
  const gone = entriesOf(original).filter(([key]) => own(modified, key) === undefined);
  if (scope.deletions) for (const [key] of gone) setKey(patch, key, null);
  const kept = entriesOf(modified).filter(([, value]) => value !== null);
  const changed = Object.keys(patch).length > 0 || gone.some(([, value]) => value !== null);
  if (retain && kept.length > 0 && changed) patch[RETAIN_KEYS] = kept.map(([key]) => key).sort();
  return patch;
}

function diffMapField(
  table: TypeTable,
  patch: JsonMap,
  key: string,
  original: JsonMap,
  modified: JsonMap,
  type: TypeName | undefined,
  scope: DiffScope,
  path: string,
): void {
  const rule = mapRule(table, type, key, path);
  if (rule.strategy === "replace") {
    if (scope.changes) setKey(patch, key, modified);
    return;
  }
  const at = memberPath(path, key);
  const difference = diffMaps(table, original, modified, rule.type, scope, rule.retainKeys, at);
  if (Object.keys(difference).length > 0) setKey(patch, key, difference);
}

function diffListField(
  table: TypeTable,
  patch: JsonMap,
  key: string,
  original: readonly Json[],
  modified: readonly Json[],
  type: TypeName | undefined,
  scope: DiffScope,
  path: string,
): void {
  const rule = listRule(table, type, key, path);
  if (rule.strategy !== "merge") {
    if (scope.changes) setKey(patch, key, [...modified]);
    return;
  }
  const at = memberPath(path, key);
  const difference = diffLists(original, modified, rule, scope, at, (before, after, itemPath) =>
    diffMaps(table, before, after, rule.type, scope, rule.retainKeys, itemPath),
  );
  const { items, deletions, order } = difference;
  if (items.length > 0) setKey(patch, key, items);
  if (deletions.length > 0) setKey(patch, `${DELETE_FROM_PRIMITIVE_LIST}/${key}`, deletions);
  if (order.length > 0) setKey(patch, `${SET_ELEMENT_ORDER}/${key}`, order);
}
