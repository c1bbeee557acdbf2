/** `$setElementOrder/<list>`: the order that a patch asks for. */
import { isMarked, orderedList, PATCH, withoutMarked } from "./directives.ts";
import { StrategicMergeError } from "./errors.ts";
import { isMap, type Json, type JsonMap, own } from "./json.ts";
import { elementType, type MergeItem, mergeLists } from "./lists.ts";
import { listRule, type MergeRule, type Place } from "./metadata.ts";
import { arrange, type Identity, identitiesOf, identityOf, knownItems } from "./order.ts";
import { itemPath, memberPath } from "./path.ts";

/** A list in the order that the patch asks for. */
export interface OrderedList {
  field: string;
  /** Undefined when neither the original nor the patch holds the list. */
  items: Json[] | undefined;
}

/** Merges the list that the directive `key` of the patch orders, if there is one, and brings it into that order. */
export function mergeOrdered(
  place: Place,
  original: JsonMap,
  patch: JsonMap,
  key: string,
  mergeItem: MergeItem,
): OrderedList {
  const orderPath = memberPath(place.path, key);
  const order = listOf(own(patch, key), orderPath);
  const field = orderedList(key, place.path);
  const rule = listRule(place, field);
  const { path } = rule.place;
  const before = own(original, field) === undefined ? undefined : listOf(own(original, field), path);
  const wanted = own(patch, field) === undefined ? undefined : listOf(own(patch, field), path);
  if (before === undefined && wanted === undefined) return { field, items: undefined };

  const identities = identitiesOf(order, rule.mergeKey, orderPath);
  checkOrder(wanted ?? [], identities, rule, orderPath);
  const { items, storage } = mergeFound(before, wanted, rule, mergeItem);
  elementType(before ?? [], wanted ?? [], path);
  const present = knownItems(storage, rule.mergeKey, path).map(({ identity }) => identity);
  return { field, items: arrange(knownItems(items, rule.mergeKey, path), identities, present) };
}

function mergeFound(
  before: readonly Json[] | undefined,
  wanted: readonly Json[] | undefined,
  rule: MergeRule,
  mergeItem: MergeItem,
): { items: readonly Json[]; storage: readonly Json[] } {
  if (wanted === undefined) return { items: before ?? [], storage: before ?? [] };
  if (before === undefined) return { items: withoutMarked([...wanted]) as Json[], storage: [] };
  if (rule.strategy !== "merge") return { items: wanted, storage: before };
  return mergeLists(rule, before, wanted, mergeItem);
}

function listOf(value: Json | undefined, path: string): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw new StrategicMergeError("BadElementOrder", path, "must be a list");
}

/** Every item of the patch list, deletions apart, must occur in the order, and in the same sequence. */
function checkOrder(
  list: readonly Json[],
  order: readonly Identity[],
  { place, mergeKey }: MergeRule,
  orderPath: string,
): void {
  if (list.length === 0 || order.length === 0) return;
  let next = 0;
  for (const [index, item] of list.entries()) {
    const at = itemPath(place.path, index);
    if (isMap(item) && own(item, PATCH) === "delete") continue;
    const found = isMarked(item) ? next : order.indexOf(identityOf(item, mergeKey, at), next);
    if (found < 0 || found >= order.length) {
      const detail = `must stand in ${orderPath}, in the same sequence as here`;
      throw new StrategicMergeError("BadElementOrder", at, detail);
    }
    next = isMarked(item) ? next : found + 1;
  }
}
