/** Two patches towards the same goal as one. */
import { SET_ELEMENT_ORDER } from "./directives.ts";
import { entriesOf, isMap, type Json, type JsonMap, own, setKey, shallowCopy } from "./json.ts";
import { listRule, type MergeRule, mapRule, type TypeName, type TypeTable } from "./metadata.ts";
import { arrange, identitiesOf, type Known, knownItems } from "./order.ts";
import { memberPath } from "./path.ts";

/** A patch of deletions together with a patch of changes. Both must lead to the same object. */
export function combinePatches(
  table: TypeTable,
  deletions: JsonMap,
  changes: JsonMap,
  type: TypeName | undefined,
  path: string,
): JsonMap {
  const result = shallowCopy(deletions);
  for (const [key, value] of entriesOf(changes)) {
    const deletion = own(deletions, key);
    if (key.startsWith("$") || deletion === undefined) {
      setKey(result, key, value);
    } else if (isMap(deletion) && isMap(value)) {
      const rule = mapRule(table, type, key, path);
      setKey(result, key, combinePatches(table, deletion, value, rule.type, memberPath(path, key)));
    } else if (Array.isArray(deletion) && Array.isArray(value)) {
      const rule = listRule(table, type, key, path);
      const orderKey = `${SET_ELEMENT_ORDER}/${key}`;
      const order = (own(changes, orderKey) ?? own(deletions, orderKey) ?? value) as Json[];
      const at = memberPath(path, key);
      const merged = rule.strategy === "merge";
      setKey(result, key, merged ? combineLists(table, deletion, value, order, rule, at) : value);
    } else {
      setKey(result, key, value);
    }
  }
  return result;
}

function combineLists(
  table: TypeTable,
  deletions: readonly Json[],
  changes: readonly Json[],
  order: readonly Json[],
  rule: MergeRule,
  path: string,
): Json[] {
  const combined: Known[] = knownItems(deletions, rule.mergeKey, path);
  for (const change of knownItems(changes, rule.mergeKey, path)) {
    const found = combined.find(({ identity }) => identity === change.identity);
    if (found === undefined) combined.push(change);
    else found.item = combinePatches(table, found.item as JsonMap, change.item as JsonMap, rule.type, path);
  }
  return arrange(
    combined,
    identitiesOf(order, rule.mergeKey, path),
    identitiesOf(deletions, rule.mergeKey, path),
  );
}
