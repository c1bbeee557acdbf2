/** What the double knows about the fields of a kind. */
import { BUILTINS_JSON } from "./builtins.gen.ts";

export type SchemaType =
  | "object"
  | "map"
  | "array"
  | "string"
  | "strings"
  | "boolean"
  | "integer"
  | "number"
  | "any"
  | "bytes"
  | "quantity"
  | "intOrString"
  | "time"
  | "microTime";

export interface Schema {
  type: SchemaType;
  /** Fields of an object. */
  properties?: Record<string, Schema>;
  /** Elements of an array. */
  items?: Schema;
  /** Values of a map. */
  values?: Schema;
  /** Unknown fields of an object are kept and merged (custom resources only). */
  open?: boolean;
  /** How server-side apply treats an array. Default atomic. */
  list?: "atomic" | "set" | "map";
  /** Fields that tell the elements of a `map` list apart. */
  keys?: string[];
  /** Server-side apply takes the object or map as one value. */
  map?: "atomic" | "granular";
  /** The field is left out when it is empty or zero. */
  omit?: boolean;
  omitZero?: boolean;
  /** The field tells "not given" from zero. */
  pointer?: boolean;
  default?: unknown;
  required?: boolean;
  /** Strategic merge patch. */
  patch?: string;
  mergeKey?: string;
}

/** As printed by schemas/main.go: the type of an object is a name in `types`. */
interface Printed extends Omit<Schema, "items" | "values"> {
  ref?: string;
  items?: Printed;
  values?: Printed;
}

export interface BuiltinSchemas {
  /** By `group/version/Kind`; the core group is empty. */
  kind(group: string, version: string, kind: string): Schema | undefined;
  /** By Go type, for example `meta.v1.ObjectMeta`. */
  type(name: string): Schema;
}

/** Links the printed types to each other. */
export function loadBuiltinSchemas(): BuiltinSchemas {
  const printed = JSON.parse(BUILTINS_JSON) as {
    kinds: Record<string, string>;
    types: Record<string, Record<string, Printed>>;
    mapTypes: Record<string, string>;
  };
  const linked: Record<string, Record<string, Schema>> = {};
  for (const name of Object.keys(printed.types)) linked[name] = {};

  const link = ({ ref, items, values, ...rest }: Printed): Schema => ({
    ...rest,
    ...(items === undefined ? {} : { items: link(items) }),
    ...(values === undefined ? {} : { values: link(values) }),
    ...(ref === undefined ? {} : { properties: linked[ref]! }),
    ...(ref !== undefined && printed.mapTypes[ref] === "atomic" ? { map: "atomic" as const } : {}),
  });
  for (const [name, fields] of Object.entries(printed.types)) {
    for (const [field, schema] of Object.entries(fields)) linked[name]![field] = link(schema);
  }

  const type = (name: string): Schema => ({ type: "object", properties: linked[name]! });
  return {
    type,
    kind(group, version, kind) {
      const name = printed.kinds[`${group}/${version}/${kind}`];
      return name === undefined ? undefined : type(name);
    },
  };
}
