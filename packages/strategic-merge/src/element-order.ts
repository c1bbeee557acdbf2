/** `$setElementOrder/<list>`: the order that a patch asks for. */
import { isMarked, orderedList, PATCH, withoutMarked } from "./directives.ts";
import { StrategicMergeError } from "./errors.ts";
import { isMap, type Json, type JsonMap, own } from "./json.ts";
import { elementType, type MergeItem, mergeLists } from "./lists.ts";
import { listRule, type MergeRule, type TypeName, type TypeTable } from "./metadata.ts";
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
  table: TypeTable,
  original: JsonMap,
  patch: JsonMap,
  key: string,
  type: TypeName | undefined,
  path: string,
  mergeItem: MergeItem,
): OrderedList {
  const orderPath = memberPath(path, key);
  const order = listOf(own(patch, key), orderPath);
  const field = orderedList(key, path);
  const listPath = memberPath(path, field);
  const rule = listRule(table, type, field, path);
  const before = own(original, field) === undefined ? undefined : listOf(own(original, field), listPath);
  const wanted = own(patch, field) === undefined ? undefined : listOf(own(patch, field), listPath);
  checkOrder(wanted ?? [], order, rule.mergeKey, listPath, orderPath);
  if (before === undefined && wanted === undefined) return { field, items: undefined };

  const { items, storage } = mergeFound(before, wanted, rule, listPath, mergeItem);
  elementType(before ?? [], wanted ?? [], listPath);
  const present = knownItems(storage, rule.mergeKey, listPath).map(({ identity }) => identity);
  const merged = knownItems(items, rule.mergeKey, listPath);
  return { field, items: arrange(merged, identitiesOf(order, rule.mergeKey, orderPath), present) };
}

function mergeFound(
  before: readonly Json[] | undefined,
  wanted: readonly Json[] | undefined,
  rule: MergeRule,
  path: string,
  mergeItem: MergeItem,
): { items: readonly Json[]; storage: readonly Json[] } {
  if (wanted === undefined) return { items: before ?? [], storage: before ?? [] };
  if (before === undefined) return { items: withoutMarked([...wanted]) as Json[], storage: [] };
  if (rule.strategy !== "merge") return { items: wanted, storage: before };
  return mergeLists(before, wanted, rule, path, mergeItem);
}

function listOf(value: Json | undefined, path: string): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw new StrategicMergeError("BadElementOrder", path, "must be a list");
}

/** Every item of the patch list, deletions apart, must occur in the order, and in the same sequence. */
function checkOrder(
  list: readonly Json[],
  order: readonly Json[],
  mergeKey: string,
  listPath: string,
  orderPath: string,
): void {
  if (list.length === 0 || order.length === 0) return;
  const ordered: readonly Identity[] = identitiesOf(order, mergeKey, orderPath);
  let next = 0;
  for (const [index, item] of list.entries()) {
    const at = itemPath(listPath, index);
    if (isMap(item) && own(item, PATCH) === "delete") continue;
    const found = isMarked(item) ? next : ordered.indexOf(identityOf(item, mergeKey, at), next);
    if (found < 0 || found >= ordered.length) {
      throw new StrategicMergeError(
        "BadElementOrder",
        at,
        `must stand in ${orderPath}, in the same sequence as here`,
      );
    }
    next = isMarked(item) ? next : found + 1;
  }
}
