/** Two patches towards the same goal as one. */
import { SET_ELEMENT_ORDER } from "./directives.ts";
import { entriesOf, isMap, type Json, type JsonMap, own, setKey, shallowCopy } from "./json.ts";
import { listRule, type MergeRule, mapRule, type Place } from "./metadata.ts";
import { arrange, identitiesOf, type Known, knownItems } from "./order.ts";

/** A patch of deletions together with a patch of changes. Both must lead to the same object. */
export function combinePatches(place: Place, deletions: JsonMap, changes: JsonMap): JsonMap {
  const result = shallowCopy(deletions);
  for (const [key, value] of entriesOf(changes)) {
    const deletion = own(deletions, key);
    if (key.startsWith("$") || deletion === undefined) {
      setKey(result, key, value);
    } else if (isMap(deletion) && isMap(value)) {
      setKey(result, key, combinePatches(mapRule(place, key).place, deletion, value));
    } else if (Array.isArray(deletion) && Array.isArray(value)) {
      const rule = listRule(place, key);
      const orderKey = `${SET_ELEMENT_ORDER}/${key}`;
      const order = (own(changes, orderKey) ?? own(deletions, orderKey) ?? value) as Json[];
      setKey(result, key, rule.strategy === "merge" ? combineLists(rule, deletion, value, order) : value);
    } else {
      setKey(result, key, value);
    }
  }
  return result;
}

function combineLists(
  { place, mergeKey }: MergeRule,
  deletions: readonly Json[],
  changes: readonly Json[],
  order: readonly Json[],
): Json[] {
  const combined: Known[] = knownItems(deletions, mergeKey, place.path);
  const present = combined.map(({ identity }) => identity);
  for (const change of knownItems(changes, mergeKey, place.path)) {
    const found = combined.find(({ identity }) => identity === change.identity);
    if (found === undefined) combined.push(change);
    else found.item = combinePatches(place, found.item as JsonMap, change.item as JsonMap);
  }
  return arrange(combined, identitiesOf(order, mergeKey, place.path), present);
}
