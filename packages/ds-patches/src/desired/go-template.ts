/** A pod template as a Go program stores it after decoding it into its types (DSP-605). */
import { canonicalQuantity, isPointer } from "@quartet/pod-template";
import { BUILT_IN, type Field, type JsonMap, type Shape, type TypeName } from "@quartet/strategic-merge";
import type { PodTemplate } from "../api.ts";
import { isMap } from "../json.ts";

const TYPE = "PodTemplateSpec";
const META = "meta.v1.ObjectMeta";
const CREATION = "creationTimestamp";

/** What Go writes even when it is empty, of the fields of which an empty value can stand in a pod that runs. */
const ALWAYS_WRITTEN: ReadonlyMap<string, null | "" | 0> = new Map<string, null | "" | 0>([
  ["GRPCAction service", null],
  ["HTTPHeader value", ""],
  ["ISCSIVolumeSource lun", 0],
  ["ProjectedVolumeSource sources", null],
  ["SleepAction seconds", 0],
  ["Sysctl value", ""],
  ["TypedLocalObjectReference apiGroup", null],
  ["TypedObjectReference apiGroup", null],
]);

/**
 * The template with what a Go client adds and leaves out: unknown fields and empty values gone, pointers to zero kept,
 * structures written even when they are empty, quantities in canonical form, `creationTimestamp: null` in metadata.
 */
export function goTemplate(template: PodTemplate): JsonMap {
  return structOf(TYPE, template as JsonMap);
}

function structOf(type: TypeName, map: JsonMap): JsonMap {
  const result: JsonMap = type === META ? { [CREATION]: map[CREATION] ?? null } : {};
  for (const [name, field] of BUILT_IN.types.get(type) ?? []) {
    const given = Object.hasOwn(map, name) ? map[name] : undefined;
    const empty = ALWAYS_WRITTEN.get(`${type} ${name}`);
    const value = fieldOf(type, name, field, given) ?? (empty === undefined ? undefined : (given ?? empty));
    if (value !== undefined) result[name] = value as JsonMap[string];
  }
  return result;
}

function fieldOf(type: TypeName, name: string, { shape }: Field, value: unknown): unknown {
  if (name === CREATION && type === META) return undefined;
  const pointer = isPointer(type, name);
  if (value === undefined || value === null) {
    return shape.kind === "map" && !pointer ? structOf(shape.type, {}) : undefined;
  }
  const normal = normalOf(shape, value);
  return pointer || !isZero(shape, normal) ? normal : undefined;
}

function normalOf(shape: Shape, value: unknown): unknown {
  switch (shape.kind) {
    case "map":
      return structOf(shape.type, isMap(value) ? value : {});
    case "freeMap":
      return isMap(value)
        ? Object.fromEntries(
            Object.entries(value).map(([key, member]) => [key, normalOf(shape.values, member)]),
          )
        : value;
    case "list":
      return Array.isArray(value) ? value.map((item) => normalOf(shape.items, item)) : value;
    default:
      return shape.scalar === "quantity" ? (canonicalQuantity(value) ?? value) : value;
  }
}

/** What Go leaves out of the JSON of a field that is no pointer. Structures are never left out. */
function isZero(shape: Shape, value: unknown): boolean {
  if (shape.kind === "map") return false;
  if (shape.kind === "freeMap") return isMap(value) && Object.keys(value).length === 0;
  if (shape.kind === "list") return Array.isArray(value) && value.length === 0;
  if (shape.scalar === "intOrString" || shape.scalar === "quantity") return false;
  return value === "" || value === false || value === 0;
}
