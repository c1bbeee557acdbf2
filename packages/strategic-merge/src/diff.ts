/** The difference between two values of a type, as a strategic merge patch. */

import { diffLists } from "./diff-lists.ts";
import type { DiffScope } from "./diff-scope.ts";
import { DELETE_FROM_PRIMITIVE_LIST, RETAIN_KEYS, SET_ELEMENT_ORDER } from "./directives.ts";
import { entriesOf, equal, isMap, type Json, type JsonMap, own, setKey } from "./json.ts";
import { listRule, type MergeRule, mapRule, type Place } from "./metadata.ts";

/** A patch that leads from one map to the other. `retain` asks for `$retainKeys`, as the field's strategy demands. */
export function diffMaps(
  place: Place,
  original: JsonMap,
  modified: JsonMap,
  scope: DiffScope,
  retain: boolean,
): JsonMap {
  const patch: JsonMap = {};
  for (const [key, value] of entriesOf(modified)) {
    const before = own(original, key);
    if (before !== undefined && equal(before, value)) continue;
    if (isMap(before) && isMap(value)) {
      diffMapField(patch, key, mapRule(place, key), before, value, scope);
    } else if (Array.isArray(before) && Array.isArray(value)) {
      diffListField(patch, key, listRule(place, key), before, value, scope);
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
  patch: JsonMap,
  key: string,
  rule: MergeRule,
  original: JsonMap,
  modified: JsonMap,
  scope: DiffScope,
): void {
  if (rule.strategy === "replace") {
    if (scope.changes) setKey(patch, key, modified);
    return;
  }
  const difference = diffMaps(rule.place, original, modified, scope, rule.retainKeys);
  if (Object.keys(difference).length > 0) setKey(patch, key, difference);
}

function diffListField(
  patch: JsonMap,
  key: string,
  rule: MergeRule,
  original: readonly Json[],
  modified: readonly Json[],
  scope: DiffScope,
): void {
  if (rule.strategy !== "merge") {
    if (scope.changes) setKey(patch, key, [...modified]);
    return;
  }
  const { items, deletions, order } = diffLists(rule, original, modified, scope, (before, after) =>
    diffMaps(rule.place, before, after, scope, rule.retainKeys),
  );
  if (items.length > 0) setKey(patch, key, items);
  if (deletions.length > 0) setKey(patch, `${DELETE_FROM_PRIMITIVE_LIST}/${key}`, deletions);
  if (order.length > 0) setKey(patch, `${SET_ELEMENT_ORDER}/${key}`, order);
}
