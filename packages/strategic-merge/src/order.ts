/** Order of the items of a merged list. */
import { PATCH } from "./directives.ts";
import { StrategicMergeError } from "./errors.ts";
import { isMap, type Json, own } from "./json.ts";
import { checkLength } from "./limits.ts";
import { itemPath } from "./path.ts";

/** What tells an item of a list from the others: the value of its merge key, or the scalar itself. */
export type Identity = null | boolean | number | string;

/** Identity of an item; an empty merge key stands for a list of scalars. `path` is where an error would lie. */
export function identityOf(item: Json, mergeKey: string, path: string): Identity {
  if (mergeKey === "") {
    if (typeof item !== "object" || item === null) return item;
    throw new StrategicMergeError("MixedElements", path, "must be a plain value");
  }
  if (!isMap(item)) throw new StrategicMergeError("NotAnObject", path, "must be an object");
  const identity = own(item, mergeKey);
  if (identity === undefined) {
    throw new StrategicMergeError(
      "MissingMergeKey",
      path,
      `must contain ${mergeKey}, which tells the items apart`,
    );
  }
  if (typeof identity !== "object" || identity === null) return identity;
  throw new StrategicMergeError("MissingMergeKey", path, `${mergeKey} must be a plain value`);
}

/** Identities of the items of the patch list at `path`. */
export function identitiesOf(list: readonly Json[], mergeKey: string, path: string): Identity[] {
  checkLength(list, path);
  return list.map((item, index) => identityOf(item, mergeKey, itemPath(path, index)));
}

/** The items of a list that the patch at `path` is merged into, each with what it is known by. */
export function knownItems(list: readonly Json[], mergeKey: string, path: string): Known[] {
  checkLength(list, path);
  return list.map((item) => ({ item, identity: identityOf(item, mergeKey, path) }));
}

/** An item together with what it is known by. */
export interface Known {
  item: Json;
  identity: Identity;
}

/**
 * The merged items in their final order: those in `wanted` as they stand there, the others as they stand in `present`,
 * and the two interleaved so that an other one comes first only where it stands earlier in `present`. So what is new
 * precedes the others that remain.
 */
export function arrange(
  merged: readonly Known[],
  wanted: readonly Identity[],
  present: readonly Identity[],
): Json[] {
  const wantedAt = positionsOf(wanted);
  const presentAt = positionsOf(present);
  const mentioned = sorted(
    merged.filter(({ identity }) => wantedAt.has(identity)),
    wantedAt,
  );
  const others = sorted(
    merged.filter(({ identity }) => !wantedAt.has(identity)),
    presentAt,
  );
  const result: Json[] = [];
  while (mentioned.length > 0 && others.length > 0) {
    const other = presentAt.get(others[0]!.identity);
    const next = presentAt.get(mentioned[0]!.identity);
    const otherFirst = other !== undefined && next !== undefined && other < next;
    result.push((otherFirst ? others : mentioned).shift()!.item);
  }
  return [...result, ...mentioned.map(({ item }) => item), ...others.map(({ item }) => item)];
}

/** First position of each identity. */
function positionsOf(identities: readonly Identity[]): ReadonlyMap<Identity, number> {
  const positions = new Map<Identity, number>();
  for (const [index, identity] of identities.entries()) {
    if (!positions.has(identity)) positions.set(identity, index);
  }
  return positions;
}

/**
 * Sorts by position; items that stand for a deletion go last. An item without position moves before whatever stands in
 * front of it, which turns a run of such items round: the original sorts with this comparison by insertion, and its
 * users see the result.
 */
function sorted(items: readonly Known[], positions: ReadonlyMap<Identity, number>): Known[] {
  const result: Known[] = [];
  const deletions: Known[] = [];
  for (const known of items) {
    if (isMap(known.item) && own(known.item, PATCH) === "delete") {
      deletions.push(known);
      continue;
    }
    let place = result.length;
    while (place > 0 && precedes(known, result[place - 1]!, positions)) place -= 1;
    result.splice(place, 0, known);
  }
  return [...result, ...deletions];
}

function precedes(left: Known, right: Known, positions: ReadonlyMap<Identity, number>): boolean {
  const a = positions.get(left.identity);
  const b = positions.get(right.identity);
  return a === undefined || b === undefined || a < b;
}
