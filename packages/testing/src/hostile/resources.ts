/** Hostile resources of a definition: a sound one in which some fields hold what nobody expects. */
import { items, type JsonObject, record, text } from "../apiserver-double/json.ts";
import type { CustomResourceDefinition } from "../control-plane/index.ts";
import type { Random } from "./random.ts";
import { hostileValue } from "./values.ts";

/** Fields of a resource that are replaced at most. */
const MAX_CHANGES = 4;
/** How often one goes a level deeper rather than to replace what is there. */
const DEEPER = 0.8;
/** Top-level fields that are the server's or the controller's. */
const KEPT: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

/** A kind of resources, by the version that its controller works with. */
export interface HostileKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly schema: JsonObject;
}

/** The kind of a definition, in its storage version. */
export function hostileKind(definition: CustomResourceDefinition): HostileKind {
  const spec = definition.spec as unknown as JsonObject;
  const { kind, plural } = record(spec.names) as { kind: string; plural: string };
  const version = items(spec.versions)
    .map(record)
    .find(({ storage }) => storage === true)!;
  return {
    apiVersion: `${text(spec.group)}/${text(version.name)}`,
    kind,
    plural,
    namespaced: spec.scope === "Namespaced",
    schema: record(record(version.schema).openAPIV3Schema),
  };
}

/**
 * A resource, without metadata.
 * @param base fields of a sound one; without it all fields are made up
 */
export function hostileResource(
  { apiVersion, kind, schema }: HostileKind,
  random: Random,
  base: JsonObject | undefined,
): JsonObject {
  const fields = Object.entries(record(schema.properties)).filter(([key]) => !KEPT.has(key));
  const own: JsonObject = { ...schema, properties: Object.fromEntries(fields) };
  if (base === undefined) return { ...record(hostileValue(own, random)), apiVersion, kind };
  let changed = base;
  for (let count = 1 + random.below(MAX_CHANGES); count > 0; count--)
    changed = withField(own, changed, random);
  return { ...changed, apiVersion, kind };
}

/** The value with another one in a place chosen at random. */
function withChange(schema: JsonObject, value: unknown, random: Random): unknown {
  if (random.chance(DEEPER)) {
    if (Array.isArray(value) && value.length > 0) {
      const at = random.below(value.length);
      return value.map((item, index) =>
        index === at ? withChange(record(schema.items), item, random) : item,
      );
    }
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isMap && Object.keys(record(schema.properties)).length > 0)
      return withField(schema, value as JsonObject, random);
  }
  return hostileValue(schema, random) ?? value;
}

/** The map with another value in one of its fields. */
function withField(schema: JsonObject, value: JsonObject, random: Random): JsonObject {
  const properties = Object.keys(record(schema.properties));
  const present = properties.filter((key) => Object.hasOwn(value, key));
  const key = random.pick(present.length > 0 && random.chance(0.5) ? present : properties);
  const below = record(record(schema.properties)[key]);
  const after = Object.hasOwn(value, key)
    ? withChange(below, value[key], random)
    : hostileValue(below, random);
  return after === undefined ? value : { ...value, [key]: after };
}
