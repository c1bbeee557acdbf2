/** Merging of lists, item by item. */
import { isMarked, PATCH } from "./directives.ts";
import { StrategicMergeError } from "./errors.ts";
import { type Json, type JsonMap, type JsonType, own, typeOf } from "./json.ts";
import type { MergeRule, TypeName } from "./metadata.ts";
import { arrange, type Identity, identitiesOf, identityOf, knownItems } from "./order.ts";
import { itemPath, memberPath } from "./path.ts";

/** Merges a patch item into the original item of the same identity. */
export type MergeItem = (
  original: JsonMap,
  patch: JsonMap,
  type: TypeName | undefined,
  path: string,
) => JsonMap;

export interface MergedList {
  items: Json[];
  /** The original list as the merge left it in place, see `storageOf`. */
  storage: Json[];
}

/** Merges a list into a list of the same field. `path` leads to the patch list. */
export function mergeLists(
  original: readonly Json[],
  patch: readonly Json[],
  rule: MergeRule,
  path: string,
  mergeItem: MergeItem,
): MergedList {
  if (original.length === 0 && patch.length === 0) return { items: [], storage: [] };
  const type = elementType(original, patch, path);
  if (type !== "map") {
    const union = [...new Set([...original, ...patch])];
    return {
      items: arrange(
        knownItems(union, rule.mergeKey, path),
        identitiesOf(patch, rule.mergeKey, path),
        original as Identity[],
      ),
      storage: [...original],
    };
  }
  if (rule.mergeKey === "") {
    throw new StrategicMergeError(
      "MixedElements",
      path,
      "objects cannot be merged here: the schema names no merge key",
    );
  }
  return mergeMapLists(original as JsonMap[], patch as JsonMap[], rule, path, mergeItem);
}

/** The original without the scalars of the list that `$deleteFromPrimitiveList/…` at `path` holds. */
export function deleteScalars(original: readonly Json[], deletions: readonly Json[], path: string): Json[] {
  if (deletions.length === 0) return [...original];
  if (elementType(original, deletions, path) === "map") {
    throw new StrategicMergeError("BadPrimitiveList", path, "only plain values can be deleted this way");
  }
  return original.filter((item) => !deletions.includes(item));
}

/** Common type of all items. Throws when they differ, are null or lists, or when there are none at all. */
export function elementType(original: readonly Json[], patch: readonly Json[], path: string): JsonType {
  const [type, ...others] = new Set([...original, ...patch].map(typeOf));
  if (type === undefined) throw new StrategicMergeError("BadElementOrder", path, "there is no item to order");
  if (type === "list")
    throw new StrategicMergeError("MixedElements", path, "a list of lists cannot be merged");
  if (type === "null" || others.length > 0) {
    const found = [type, ...others].join(" and ");
    throw new StrategicMergeError("MixedElements", path, `all items must be of one type, found ${found}`);
  }
  return type;
}

function mergeMapLists(
  original: readonly JsonMap[],
  patch: readonly JsonMap[],
  rule: MergeRule,
  path: string,
  mergeItem: MergeItem,
): MergedList {
  const storage = storageOf(original);
  const plain: { item: JsonMap; path: string }[] = [];
  let replace = false;
  for (const [index, item] of patch.entries()) {
    const at = itemPath(path, index);
    if (!isMarked(item)) plain.push({ item, path: at });
    else if (listDirective(item, at) === "replace") replace = true;
    else storage.remove(rule.mergeKey, identityOf(item, rule.mergeKey, at));
  }
  const identities = plain.map(({ item, path: at }) => identityOf(item, rule.mergeKey, at));
  if (replace) {
    const items = plain.map(({ item }, index) => ({ item, identity: identities[index]! }));
    return { items: arrange(items, [], identities), storage: storage.all() };
  }

  const present = knownItems(storage.items(), rule.mergeKey, path).map(({ identity }) => identity);
  for (const { item, path: at } of plain) {
    const index = storage.find(rule.mergeKey, own(item, rule.mergeKey)!);
    if (index < 0) storage.append(item);
    else storage.set(index, mergeItem(storage.items()[index]!, item, rule.type, at));
  }
  const merged = knownItems(storage.items(), rule.mergeKey, path);
  return { items: arrange(merged, identities, present), storage: storage.all() };
}

function listDirective(item: JsonMap, path: string): "replace" | "delete" {
  const directive = own(item, PATCH);
  if (directive === "replace" || directive === "delete") return directive;
  const detail =
    directive === "merge"
      ? "merging of lists cannot be asked for; leave it out"
      : 'must be "replace" or "delete"';
  throw new StrategicMergeError("UnknownDirective", memberPath(path, PATCH), detail);
}

/** A list that shrinks and grows in the place of the original one. */
interface Storage {
  items(): JsonMap[];
  /** As many items as the original had: what is left of it, then what was appended, then what deletions left behind. */
  all(): JsonMap[];
  find(key: string, identity: Json): number;
  set(index: number, item: JsonMap): void;
  append(item: JsonMap): void;
  remove(key: string, identity: Identity): void;
}

/**
 * The original keeps its items in one array: a deletion moves the rest up and leaves the last place as it was, and an
 * addition takes the next place. `$setElementOrder` then compares with that array at its first length, so that a new
 * item may count as one that stood at the end. The order of items follows from it.
 */
function storageOf(original: readonly JsonMap[]): Storage {
  const places = [...original];
  let length = places.length;
  const find = (key: string, identity: Json): number => {
    for (let index = 0; index < length; index += 1) if (own(places[index]!, key) === identity) return index;
    return -1;
  };
  return {
    items: () => places.slice(0, length),
    all: () => places.slice(0, original.length),
    find,
    set: (index, item) => {
      places[index] = item;
    },
    append: (item) => {
      places[length] = item;
      length += 1;
    },
    remove: (key, identity) => {
      for (let index = find(key, identity); index >= 0; index = find(key, identity)) {
        places.copyWithin(index, index + 1, length);
        length -= 1;
      }
    },
  };
}
