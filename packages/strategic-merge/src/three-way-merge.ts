import { BUILT_IN } from "./built-in.ts";
import {
  deepCopy,
  entriesOf,
  equal,
  isMap,
  type Json,
  type JsonMap,
  own,
  setKey,
  shallowCopy,
} from "./json.ts";
import type { Field, Shape, TypeName, TypeTable } from "./metadata.ts";
import { asObject } from "./object.ts";
import type { ThreeVersions } from "./patches.ts";

/**
 * `current` with the difference between `original` and `modified` carried over: what both hold alike is left as `current`
 * has it, present or not. So a live object keeps what others made of it, quirks included, while a change of what is
 * wanted arrives. (The patch of `createThreeWayPatch`, by contrast, brings everything that `modified` holds.)
 *
 * Maps are merged key by key and lists with a merge key item by item, as in a strategic merge patch. The items that
 * `current` holds keep their order; a new item follows the one that it follows in `modified`, as far as that is there. A
 * mere change of order is not carried over. A free map such as labels, and a list that is merged, loses no more than
 * `original` held; a map with a type of its own, such as a probe, goes as a whole.
 *
 * Neither argument is altered, and the result shares nothing with them.
 */
export function threeWayMerge<T>(
  type: TypeName,
  { original, modified, current }: ThreeVersions<T>,
  table: TypeTable = BUILT_IN,
): T {
  const [before, after, live] = [original, modified, current].map((value) => asObject(value, type, table));
  return deepCopy(
    carryMap(table, { before: before!, after: after!, live: live! }, fieldsOf(table, type), false),
  ) as T;
}

interface Versions<T> {
  before: T;
  after: T;
  live: T;
}

/** The field that a key of a map is. */
type Fields = (key: string) => Field | undefined;

function fieldsOf(table: TypeTable, type: TypeName): Fields {
  return (key) => table.types.get(type)?.get(key);
}

function fieldsIn(table: TypeTable, shape: Shape | undefined): Fields {
  if (shape?.kind === "map") return fieldsOf(table, shape.type);
  if (shape?.kind === "freeMap") return () => ({ shape: shape.values, strategies: [], mergeKey: "" });
  return () => undefined;
}

/** `retain` drops what `after` does not hold from a map that changed: its keys exclude each other. */
function carryMap(
  table: TypeTable,
  { before, after, live }: Versions<JsonMap>,
  fields: Fields,
  retain: boolean,
): JsonMap {
  const result = shallowCopy(live);
  const keys = new Set([...entriesOf(before), ...entriesOf(after)].map(([key]) => key));
  for (const key of keys) {
    const [was, wanted] = [own(before, key), own(after, key)];
    if (was !== undefined && wanted !== undefined && equal(was, wanted)) continue;
    const carried = carryValue(table, { before: was, after: wanted, live: own(live, key) }, fields(key));
    if (carried === undefined) delete result[key];
    else setKey(result, key, carried);
  }
  if (retain) for (const [key] of entriesOf(live)) if (own(after, key) === undefined) delete result[key];
  return result;
}

function carryValue(
  table: TypeTable,
  { before, after, live }: Versions<Json | undefined>,
  field: Field | undefined,
): Json | undefined {
  const wanted = after ?? null;
  const replaced = wanted === null ? undefined : wanted;
  if (live === undefined || field?.strategies.includes("replace")) return replaced;
  const retain = field?.strategies.includes("retainKeys") ?? false;
  if (isMap(live) && (isMap(wanted) || (wanted === null && field?.shape.kind === "freeMap"))) {
    const versions = { before: isMap(before) ? before : {}, after: isMap(wanted) ? wanted : {}, live };
    return nonEmpty(carryMap(table, versions, fieldsIn(table, field?.shape), retain), wanted);
  }
  if (
    Array.isArray(live) &&
    (Array.isArray(wanted) || wanted === null) &&
    field?.strategies.includes("merge")
  ) {
    const versions = { before: listOf(before), after: listOf(wanted), live };
    return nonEmpty(carryList(table, versions, field, retain), wanted);
  }
  return replaced;
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Nothing, where no more is wanted and nothing of others is left. */
function nonEmpty<T extends object>(value: T, wanted: Json): T | undefined {
  return wanted === null && Object.keys(value).length === 0 ? undefined : value;
}

function carryList(
  table: TypeTable,
  { before, after, live }: Versions<Json[]>,
  field: Field,
  retain: boolean,
): Json[] {
  const identity = (item: Json): Json | undefined =>
    field.mergeKey === "" ? item : isMap(item) ? own(item, field.mergeKey) : undefined;
  const fields = fieldsIn(table, field.shape.kind === "list" ? field.shape.items : undefined);
  const find = (list: readonly Json[], item: Json): Json | undefined => {
    const wanted = identity(item);
    return wanted === undefined ? undefined : list.find((other) => identity(other) === wanted);
  };
  const result = live.filter((item) => find(before, item) === undefined || find(after, item) !== undefined);
  let last = -1;
  for (const item of after) {
    const was = find(before, item);
    const place = result.findIndex((other) => identity(other) === identity(item));
    const unchanged = was !== undefined && equal(was, item);
    if (place < 0 && !unchanged) {
      last = placeOf(after, item, result, last, identity);
      result.splice(last, 0, item);
    } else if (place >= 0) {
      last = place;
      const present = result[place]!;
      if (!unchanged && isMap(item) && isMap(present)) {
        const versions = { before: isMap(was) ? was : {}, after: item, live: present };
        result[place] = carryMap(table, versions, fields, retain);
      }
    }
  }
  return result;
}

/** Where a new item goes: behind the one that it follows, else in front of the first that follows it, else to the end. */
function placeOf(
  after: readonly Json[],
  item: Json,
  result: readonly Json[],
  last: number,
  identity: (item: Json) => Json | undefined,
): number {
  if (last >= 0) return last + 1;
  const followers = after.slice(after.indexOf(item) + 1).map(identity);
  const next = result.findIndex((other) => followers.includes(identity(other)!));
  return next < 0 ? result.length : next;
}
