import { StrategicMergeError } from "./errors.ts";
import { memberPath } from "./path.ts";

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

/** How one field is merged. */
export interface MergeRule {
  /** Type of the map or of the list's items; undefined where the schema does not say what is inside. */
  type: TypeName | undefined;
  strategy: "merge" | "replace" | "";
  retainKeys: boolean;
  mergeKey: string;
}

const RETAIN_KEYS = "retainKeys";

/** How to merge the map in a field. Throws a StrategicMergeError when the schema has no such field. */
export function mapRule(table: TypeTable, type: TypeName | undefined, key: string, path: string): MergeRule {
  const field = fieldOf(table, type, key, path);
  return { type: field.shape.kind === "map" ? field.shape.type : undefined, ...rulesOf(field) };
}

/** How to merge the list in a field. Throws a StrategicMergeError when the schema has no such list. */
export function listRule(table: TypeTable, type: TypeName | undefined, key: string, path: string): MergeRule {
  const field = fieldOf(table, type, key, path);
  const { shape } = field;
  if (shape.kind !== "list") {
    throw new StrategicMergeError(
      "UnknownField",
      memberPath(path, key),
      "the schema has no list of this name",
    );
  }
  return { type: shape.items.kind === "map" ? shape.items.type : undefined, ...rulesOf(field) };
}

function fieldOf(table: TypeTable, type: TypeName | undefined, key: string, path: string): Field {
  const field = type === undefined ? undefined : table.types.get(type)?.get(key);
  if (field !== undefined) return field;
  const detail =
    type === undefined
      ? "cannot be merged: the schema allows plain values only in this map"
      : `unknown field of ${type}; remove it or correct its name`;
  throw new StrategicMergeError("UnknownField", memberPath(path, key), detail);
}

function rulesOf({ strategies, mergeKey }: Field): Omit<MergeRule, "type"> {
  const [strategy] = strategies.filter((name) => name !== RETAIN_KEYS);
  return {
    strategy: strategy === "merge" || strategy === "replace" ? strategy : "",
    retainKeys: strategies.includes(RETAIN_KEYS),
    mergeKey,
  };
}
