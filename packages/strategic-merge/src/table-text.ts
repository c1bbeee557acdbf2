/** A type table as lines of text, the compact form in which the built-in one is kept. */
import type { Field, ScalarType, Shape, TypeName, TypeTable } from "./metadata.ts";

/** Lines of a table: `types` as `Name field:shape[:strategies[:mergeKey]] …`, `kinds` as `group/version/kind type`. */
export interface TableText {
  types: readonly string[];
  kinds: readonly string[];
}

/** A shape is a scalar's letter or a type's name, with `[` before it for each list and `{` for each free map. */
const LETTERS: Readonly<Record<ScalarType, string>> = {
  string: "s",
  integer: "i",
  number: "n",
  boolean: "b",
  quantity: "q",
  intOrString: "x",
  any: "a",
};

/** The table as text. */
export function writeTable(table: TypeTable): TableText {
  return {
    types: [...table.types].map(([name, fields]) => [name, ...[...fields].map(writeField)].join(" ")).sort(),
    kinds: [...table.kinds].map(([kind, type]) => `${kind} ${type}`).sort(),
  };
}

/** The table that a text holds. */
export function readTable(text: TableText): TypeTable {
  const scalars = new Map(Object.entries(LETTERS).map(([scalar, letter]) => [letter, scalar as ScalarType]));
  const types = new Map<TypeName, ReadonlyMap<string, Field>>();
  for (const line of text.types) {
    const [name, ...fields] = line.split(" ");
    types.set(name!, new Map(fields.map((field) => readField(field, scalars))));
  }
  const kinds = new Map(text.kinds.map((line) => line.split(" ") as [string, TypeName]));
  return { types, kinds };
}

function writeField([name, field]: [string, Field]): string {
  const parts = [name, writeShape(field.shape)];
  if (field.strategies.length > 0) parts.push(field.strategies.join(","));
  if (field.mergeKey !== "") parts.push(field.mergeKey);
  return parts.join(":");
}

function readField(text: string, scalars: ReadonlyMap<string, ScalarType>): [string, Field] {
  const [name, shape, strategies, mergeKey = ""] = text.split(":");
  return [
    name!,
    {
      shape: readShape(shape!, scalars),
      strategies: strategies === undefined ? [] : strategies.split(","),
      mergeKey,
    },
  ];
}

function writeShape(shape: Shape): string {
  switch (shape.kind) {
    case "scalar":
      return LETTERS[shape.scalar];
    case "map":
      return shape.type;
    case "list":
      return `[${writeShape(shape.items)}`;
    case "freeMap":
      return `{${writeShape(shape.values)}`;
  }
}

function readShape(text: string, scalars: ReadonlyMap<string, ScalarType>): Shape {
  if (text.startsWith("[")) return { kind: "list", items: readShape(text.slice(1), scalars) };
  if (text.startsWith("{")) return { kind: "freeMap", values: readShape(text.slice(1), scalars) };
  const scalar = scalars.get(text);
  return scalar === undefined ? { kind: "map", type: text } : { kind: "scalar", scalar };
}
