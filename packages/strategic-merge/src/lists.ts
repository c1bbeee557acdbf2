/** Merging of lists, item by item. */
import { isMarked, PATCH } from "./directives.ts";
import { StrategicMergeError } from "./errors.ts";
import { type Json, type JsonMap, type JsonType, own, typeOf } from "./json.ts";
import { checkLength } from "./limits.ts";
import { itemOf, type MergeRule, type Place } from "./metadata.ts";
import { arrange, type Identity, identitiesOf, identityOf, knownItems } from "./order.ts";
import { memberPath } from "./path.ts";

/** Merges a patch item into the original item of the same identity. */
export type MergeItem = (place: Place, original: JsonMap, patch: JsonMap) => JsonMap;

export interface MergedList {
  items: Json[];
  /** The original list as the merge left it in place, see `storageOf`. */
  storage: Json[];
}

/** Merges a list into a list of the same field. */
export function mergeLists(
  rule: MergeRule,
  original: readonly Json[],
  patch: readonly Json[],
  mergeItem: MergeItem,
): MergedList {
  const { mergeKey } = rule;
  const { path } = rule.place;
  checkLength(original, path);
  checkLength(patch, path);
  if (original.length === 0 && patch.length === 0) return { items: [], storage: [] };
  if (elementType(original, patch, path) === "map") {
    if (mergeKey !== "") return mergeMapLists(rule, original as JsonMap[], patch as JsonMap[], mergeItem);
    const detail = "objects cannot be merged here: the schema names no merge key";
    throw new StrategicMergeError("MixedElements", path, detail);
  }
  const union = knownItems([...new Set([...original, ...patch])], mergeKey, path);
  const items = arrange(union, identitiesOf(patch, mergeKey, path), original as Identity[]);
  return { items, storage: [...original] };
}

/** The original without the scalars of the list that `$deleteFromPrimitiveList/…` at `path` holds. */
export function deleteScalars(original: readonly Json[], deletions: readonly Json[], path: string): Json[] {
  if (deletions.length === 0) return [...original];
  checkLength(original, path);
  checkLength(deletions, path);
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
  { place, mergeKey }: MergeRule,
  original: readonly JsonMap[],
  patch: readonly JsonMap[],
  mergeItem: MergeItem,
): MergedList {
  const storage = storageOf(original, mergeKey);
  const plain: { item: JsonMap; identity: Identity; place: Place }[] = [];
  let replace = false;
  for (const [index, item] of patch.entries()) {
    const at = itemOf(place, index);
    const directive = isMarked(item) ? listDirective(item, at.path) : undefined;
    if (directive === "replace") {
      replace = true;
      continue;
    }
    const identity = identityOf(item, mergeKey, at.path);
    if (directive === "delete") storage.remove(identity);
    else plain.push({ item, identity, place: at });
  }
  const mentioned = plain.map(({ identity }) => identity);
  if (replace) return { items: arrange(plain, [], mentioned), storage: storage.all() };

  const present = knownItems(storage.items(), mergeKey, place.path).map(({ identity }) => identity);
  for (const { item, identity, place: at } of plain) {
    storage.put(identity, (found) => (found === undefined ? item : mergeItem(at, found, item)));
  }
  const merged = knownItems(storage.items(), mergeKey, place.path);
  return { items: arrange(merged, mentioned, present), storage: storage.all() };
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
  /** Puts an item in the place of the first one of the identity, else to the end. */
  put(identity: Identity, make: (found: JsonMap | undefined) => JsonMap): void;
  /** Removes every item of the identity. */
  remove(identity: Identity): void;
}

/**
 * The original keeps its items in one array: a deletion moves the rest up and leaves the last place as it was, and an
 * addition takes the next place. `$setElementOrder` then compares with that array at its first length, so that a new
 * item may count as one that stood at the end. The order of items follows from it.
 */
function storageOf(original: readonly JsonMap[], mergeKey: string): Storage {
  const places = [...original];
  let length = places.length;
  const find = (identity: Identity): number => {
    const index = places.findIndex((item) => own(item, mergeKey) === identity);
    return index < length ? index : -1;
  };
  return {
    items: () => places.slice(0, length),
    all: () => places.slice(0, original.length),
    put: (identity, make) => {
      const index = find(identity);
      if (index < 0) length += 1;
      const place = index < 0 ? length - 1 : index;
      places[place] = make(index < 0 ? undefined : places[place]);
    },
    remove: (identity) => {
      for (let index = find(identity); index >= 0; index = find(identity)) {
        places.copyWithin(index, index + 1, length);
        length -= 1;
      }
    },
  };
}
