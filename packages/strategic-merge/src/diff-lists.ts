/** The difference between two lists that are merged item by item. */
import type { DiffScope } from "./diff-scope.ts";
import { PATCH } from "./directives.ts";
import { equal, type Json, type JsonMap, setKey } from "./json.ts";
import { elementType } from "./lists.ts";
import type { MergeRule } from "./metadata.ts";
import { arrange, type Identity, type Known, knownItems } from "./order.ts";

/** The parts of a patch for a list; each is empty when the patch needs none. */
export interface ListDifference {
  items: Json[];
  /** For `$deleteFromPrimitiveList`. */
  deletions: Json[];
  /** For `$setElementOrder`. */
  order: Json[];
}

/** Patch for an item that both lists hold; empty when nothing changed. */
type DiffItem = (original: JsonMap, modified: JsonMap) => JsonMap;

/** The difference between two unequal lists of a field. */
export function diffLists(
  { place, mergeKey }: MergeRule,
  original: readonly Json[],
  modified: readonly Json[],
  scope: DiffScope,
  diffItem: DiffItem,
): ListDifference {
  if (original.length === 0) {
    return { items: scope.changes ? [...modified] : [], deletions: [], order: [] };
  }
  const before = knownItems(original, mergeKey, place.path);
  const after = knownItems(modified, mergeKey, place.path);
  if (elementType(original, modified, place.path) === "map") {
    return diffMapLists(before, after, mergeKey, scope, diffItem);
  }
  return diffScalars(before, after, scope);
}

function diffMapLists(
  original: readonly Known[],
  modified: readonly Known[],
  mergeKey: string,
  scope: DiffScope,
  diffItem: DiffItem,
): ListDifference {
  const changed: Known[] = [];
  const deleted: Json[] = [];
  for (const [before, after] of pairsOf(original, modified)) {
    if (before !== undefined && after !== undefined) {
      const difference = diffItem(before.item as JsonMap, after.item as JsonMap);
      if (Object.keys(difference).length === 0) continue;
      setKey(difference, mergeKey, after.identity);
      changed.push({ item: difference, identity: after.identity });
    } else if (after !== undefined) {
      if (scope.changes) changed.push(after);
    } else if (before !== undefined && scope.deletions) {
      deleted.push({ [mergeKey]: before.identity, [PATCH]: "delete" });
    }
  }
  const order = modified.map(({ identity }) => identity);
  const items = [...arrange(changed, order, []), ...deleted];
  const reordered = !equal(
    original.map(({ identity }) => identity),
    order,
  );
  const ordered = items.length > 0 || (scope.changes && reordered);
  return { items, deletions: [], order: ordered ? order.map((identity) => ({ [mergeKey]: identity })) : [] };
}

function diffScalars(
  original: readonly Known[],
  modified: readonly Known[],
  scope: DiffScope,
): ListDifference {
  const added: Known[] = [];
  const deleted = new Set<Identity>();
  for (const [before, after] of pairsOf(original, modified)) {
    if (before === undefined && after !== undefined && scope.changes) added.push(after);
    if (after === undefined && before !== undefined && scope.deletions) deleted.add(before.identity);
  }
  const order = modified.map(({ identity }) => identity);
  const ordered = scope.changes || deleted.size > 0;
  return { items: arrange(added, order, []), deletions: [...deleted], order: ordered ? order : [] };
}

/**
 * Items of both lists that belong together, in the order of their identities as text. Items of one identity pair off
 * from the last to the first.
 */
function pairsOf(
  original: readonly Known[],
  modified: readonly Known[],
): [Known | undefined, Known | undefined][] {
  const left = sortedByIdentity(original);
  const right = sortedByIdentity(modified);
  const pairs: [Known | undefined, Known | undefined][] = [];
  while (left.length > 0 || right.length > 0) {
    const order = left.length === 0 ? 1 : right.length === 0 ? -1 : compare(left[0]!, right[0]!);
    pairs.push([order <= 0 ? left.shift() : undefined, order >= 0 ? right.shift() : undefined]);
  }
  return pairs;
}

function sortedByIdentity(items: readonly Known[]): Known[] {
  return [...items].reverse().sort(compare);
}

function compare(left: Known, right: Known): number {
  const [a, b] = [String(left.identity), String(right.identity)];
  return a < b ? -1 : a > b ? 1 : 0;
}
