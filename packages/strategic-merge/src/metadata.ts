import { StrategicMergeError } from "./errors.ts";
import { itemPath, memberPath } from "./path.ts";

/**
 * Name of a type of the Kubernetes API: bare for core/v1 (`PodTemplateSpec`), with group and version for the others
 * (`apps.v1.StatefulSet`, `meta.v1.ObjectMeta`).
 */
export type TypeName = string;

/** JSON types of a scalar; a quantity and an int-or-string may be a string or a number. `any` takes everything. */
export type ScalarType = "string" | "integer" | "number" | "boolean" | "quantity" | "intOrString" | "any";

/** What a field holds. */
export type Shape =
  | { kind: "scalar"; scalar: ScalarType }
  | { kind: "map"; type: TypeName }
  /** A map whose keys the author of the object chooses, such as labels. */
  | { kind: "freeMap"; values: Shape }
  | { kind: "list"; items: Shape };

/** A field of a type, as far as merging it is concerned. */
export interface Field {
  shape: Shape;
  /** `merge`, `replace`, `retainKeys`, in the order of the schema; none means `merge` of a map and `replace` of a list. */
  strategies: readonly string[];
  /** Key that tells the items of a merged list apart; empty for lists of scalars and for lists that are replaced. */
  mergeKey: string;
}

/** The merge metadata of a set of types. */
export interface TypeTable {
  types: ReadonlyMap<TypeName, ReadonlyMap<string, Field>>;
  /** Types of the kinds, by `group/version/kind`. */
  kinds: ReadonlyMap<string, TypeName>;
}

/** Where in a value the engine is, and what it knows about the map or list there. */
export interface Place {
  table: TypeTable;
  /** Type of the map, or of the list's items; undefined where the schema does not say what is inside. */
  type: TypeName | undefined;
  path: string;
}

/** How one field is merged. */
export interface MergeRule {
  /** The field itself. */
  place: Place;
  strategy: "merge" | "replace" | "";
  retainKeys: boolean;
  mergeKey: string;
}

const RETAIN_KEYS = "retainKeys";

/** How to merge the map in a field. Throws a StrategicMergeError when the schema has no such field. */
export function mapRule(place: Place, key: string): MergeRule {
  const field = fieldOf(place, key);
  return ruleOf(place, key, field, field.shape);
}

/** How to merge the list in a field. Throws a StrategicMergeError when the schema has no such list. */
export function listRule(place: Place, key: string): MergeRule {
  const field = fieldOf(place, key);
  if (field.shape.kind === "list") return ruleOf(place, key, field, field.shape.items);
  const detail = "the schema has no list of this name";
  throw new StrategicMergeError("UnknownField", memberPath(place.path, key), detail);
}

/** The item of a list at `place`. */
export function itemOf(place: Place, index: number): Place {
  return { ...place, path: itemPath(place.path, index) };
}

function fieldOf({ table, type, path }: Place, key: string): Field {
  const field = type === undefined ? undefined : table.types.get(type)?.get(key);
  if (field !== undefined) return field;
  const detail =
    type === undefined
      ? "cannot be merged: the schema allows plain values only in this map"
      : `unknown field of ${type}; remove it or correct its name`;
  throw new StrategicMergeError("UnknownField", memberPath(path, key), detail);
}

function ruleOf(
  { table, path }: Place,
  key: string,
  { strategies, mergeKey }: Field,
  inside: Shape,
): MergeRule {
  const [strategy] = strategies.filter((name) => name !== RETAIN_KEYS);
  return {
    place: { table, type: inside.kind === "map" ? inside.type : undefined, path: memberPath(path, key) },
    strategy: strategy === "merge" || strategy === "replace" ? strategy : "",
    retainKeys: strategies.includes(RETAIN_KEYS),
    mergeKey,
  };
}
