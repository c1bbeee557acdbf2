/** Random objects of a type and random patches for them, drawn from the schema. */
import fc from "fast-check";
import { BUILT_IN, type Field, type Json, type JsonMap, type ScalarType, type Shape } from "../src/index.ts";

/** How the values are drawn. */
export interface Drawing {
  /** Fields of a type to draw from; all when the type is not named. */
  fields: Readonly<Record<string, readonly string[]>>;
  /** Also draw what is malformed: wrong types, lacking and repeated merge keys, nulls. */
  wild: boolean;
}

/** The fields of pods and their owners in which every kind of list and map occurs. */
export const TELLING_FIELDS: Drawing["fields"] = {
  "apps.v1.Deployment": ["metadata", "spec"],
  "apps.v1.DeploymentSpec": ["strategy", "template", "replicas"],
  "apps.v1.StatefulSet": ["metadata", "spec"],
  "apps.v1.StatefulSetSpec": ["replicas", "template", "volumeClaimTemplates", "updateStrategy", "selector"],
  Container: [
    "name",
    "image",
    "args",
    "env",
    "envFrom",
    "livenessProbe",
    "ports",
    "resources",
    "volumeMounts",
  ],
  ContainerPort: ["containerPort", "name", "protocol"],
  EnvVar: ["name", "value", "valueFrom"],
  EnvVarSource: ["configMapKeyRef", "fieldRef"],
  LimitedVolume: ["name", "emptyDir", "hostPath"],
  PodSpec: [
    "containers",
    "dnsConfig",
    "hostAliases",
    "imagePullSecrets",
    "nodeSelector",
    "securityContext",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
  ],
  Probe: ["exec", "httpGet", "periodSeconds"],
  ResourceRequirements: ["limits", "requests", "claims"],
  Service: ["metadata", "spec"],
  ServiceSpec: ["ports", "selector", "externalIPs", "type", "clusterIPs"],
  ServicePort: ["port", "name", "protocol"],
  Volume: ["name", "emptyDir", "hostPath", "projected"],
  "meta.v1.ObjectMeta": ["labels", "annotations", "finalizers", "ownerReferences", "name"],
  "meta.v1.OwnerReference": ["uid", "name", "kind"],
};

/** How long a property is checked; it must not shrink a large object for minutes when it fails. */
export const RUNS: fc.Parameters<unknown> = {
  numRuns: 300,
  interruptAfterTimeLimit: 15_000,
  markInterruptAsFailure: true,
};

const DEPTH = 7;
const ITEMS = 4;
const WORDS = ["a", "b", "c", "d", "e"];

/** Objects of a type. */
export function objects(type: string, drawing: Drawing): fc.Arbitrary<JsonMap> {
  return objectOf(type, drawing, DEPTH);
}

function objectOf(type: string, drawing: Drawing, depth: number): fc.Arbitrary<JsonMap> {
  return mapOf(fieldsOf(type, drawing), (field) => drawShape(field.shape, field, drawing, depth - 1), []);
}

function fieldsOf(type: string, drawing: Drawing): [string, Field][] {
  const chosen = drawing.fields[type];
  return [...BUILT_IN.types.get(type)!].filter(([name]) => chosen === undefined || chosen.includes(name));
}

function mapOf(
  fields: readonly [string, Field][],
  draw: (field: Field, name: string) => fc.Arbitrary<Json>,
  requiredKeys: string[],
): fc.Arbitrary<JsonMap> {
  const model = Object.fromEntries(fields.map(([name, field]) => [name, draw(field, name)]));
  return fc.record(model, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<JsonMap>;
}

function drawShape(shape: Shape, field: Field, drawing: Drawing, depth: number): fc.Arbitrary<Json> {
  switch (shape.kind) {
    case "scalar":
      return scalars(shape.scalar);
    case "map":
      return depth <= 0 ? fc.constant({}) : objectOf(shape.type, drawing, depth);
    case "freeMap":
      return fc.dictionary(fc.constantFrom(...WORDS), drawShape(shape.values, field, drawing, depth - 1), {
        maxKeys: ITEMS,
        noNullPrototype: true,
      });
    case "list":
      return depth <= 0 ? fc.constant([]) : listOf(shape.items, field, drawing, depth);
  }
}

function listOf(items: Shape, field: Field, drawing: Drawing, depth: number): fc.Arbitrary<Json[]> {
  const merged = field.strategies.includes("merge");
  if (items.kind !== "map") {
    const item = drawShape(items, field, drawing, depth - 1);
    return merged ? fc.uniqueArray(item, { maxLength: ITEMS }) : fc.array(item, { maxLength: ITEMS });
  }
  if (!merged) return fc.array(objectOf(items.type, drawing, depth - 1), { maxLength: 3 });
  const { mergeKey } = field;
  const item = mapOf(
    fieldsOf(items.type, drawing),
    (inner) => drawShape(inner.shape, inner, drawing, depth - 2),
    [mergeKey],
  );
  if (drawing.wild) {
    return fc.oneof(
      { weight: 1, arbitrary: fc.array(item, { maxLength: ITEMS }) },
      { weight: 8, arbitrary: uniqueItems(item, mergeKey) },
    );
  }
  return uniqueItems(item, mergeKey);
}

function uniqueItems(item: fc.Arbitrary<JsonMap>, mergeKey: string): fc.Arbitrary<JsonMap[]> {
  return fc.uniqueArray(item, { maxLength: ITEMS, selector: (drawn) => drawn[mergeKey] });
}

function scalars(type: ScalarType): fc.Arbitrary<Json> {
  switch (type) {
    case "integer":
      return fc.constantFrom(1, 2, 3, 53, 80);
    case "number":
      return fc.constantFrom(1, 2.5);
    case "boolean":
      return fc.boolean();
    case "quantity":
      return fc.constantFrom("1", "2Gi", "100m");
    case "intOrString":
      return fc.constantFrom<Json>(80, "http");
    default:
      return fc.constantFrom(...WORDS);
  }
}

/** Patches for objects of a type. Wild ones may be malformed. */
export function patches(type: string, drawing: Drawing): fc.Arbitrary<JsonMap> {
  return patchOf(type, drawing, DEPTH, []);
}

function patchOf(type: string, drawing: Drawing, depth: number, required: string[]): fc.Arbitrary<JsonMap> {
  const fields = fieldsOf(type, drawing);
  const plain = mapOf(
    fields,
    (field, name) => fieldPatch(field, drawing, depth - 1, required.includes(name)),
    required,
  );
  return fc
    .tuple(
      plain,
      mapDirectives(fields, drawing),
      fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }), fc.nat({ max: 9 })),
    )
    .map(([patch, directives, dice]) => withDirectives(patch, directives, dice, fields));
}

function fieldPatch(field: Field, drawing: Drawing, depth: number, required: boolean): fc.Arbitrary<Json> {
  const { shape } = field;
  const value = drawShape(shape, field, drawing, depth);
  if (required) return value;
  const weighted = [
    { weight: 6, arbitrary: patchedValue(field, value, drawing, depth) },
    { weight: 1, arbitrary: fc.constant<Json>(null) },
  ];
  if (drawing.wild) {
    const wrong = fc.constantFrom<Json>("a", 1, [], {}, ["a"], [1], [null], [["a"]], { a: { b: 1 } });
    weighted.push({ weight: shape.kind === "scalar" ? 1 : 0, arbitrary: wrong });
    weighted.push({
      weight: 1,
      arbitrary: fc.oneof({ weight: 2, arbitrary: value }, { weight: 1, arbitrary: wrong }),
    });
  }
  return fc.oneof(...weighted);
}

function patchedValue(
  field: Field,
  value: fc.Arbitrary<Json>,
  drawing: Drawing,
  depth: number,
): fc.Arbitrary<Json> {
  const { shape, mergeKey } = field;
  if (depth <= 0) return value;
  if (shape.kind === "map") return patchOf(shape.type, drawing, depth, []);
  if (shape.kind === "freeMap") {
    const member = fc.oneof(
      { weight: 4, arbitrary: drawShape(shape.values, field, drawing, depth - 1) },
      { weight: 1, arbitrary: fc.constant<Json>(null) },
    );
    return fc.dictionary(fc.constantFrom(...WORDS), member, { maxKeys: ITEMS, noNullPrototype: true });
  }
  if (shape.kind !== "list" || shape.items.kind !== "map" || mergeKey === "") return value;
  const item = patchOf(shape.items.type, drawing, depth - 2, [mergeKey]);
  const marked = fc
    .tuple(
      item,
      fc.constantFrom("delete", "delete", "delete", "replace", ...(drawing.wild ? ["merge", "no"] : [])),
    )
    .map(([drawn, directive]): JsonMap => ({ [mergeKey]: drawn[mergeKey]!, $patch: directive }));
  const keyless = fc.constant<JsonMap>({});
  return fc.array(
    fc.oneof(
      { weight: 20, arbitrary: item },
      { weight: 5, arbitrary: marked },
      { weight: drawing.wild ? 1 : 0, arbitrary: keyless },
    ),
    { maxLength: ITEMS },
  );
}

interface MapDirectives {
  patch: Json;
  retained: Json;
  orders: Json[];
  deletions: Json[];
  list: string;
}

function mapDirectives(fields: readonly [string, Field][], drawing: Drawing): fc.Arbitrary<MapDirectives> {
  const names = fields.map(([name]) => name);
  const lists = fields.filter(([, { shape }]) => shape.kind === "list").map(([name]) => name);
  return fc.record({
    patch: fc.constantFrom<Json>(
      "replace",
      "delete",
      "replace",
      "delete",
      ...(drawing.wild ? ["merge", null, 1] : []),
    ),
    retained: fc.oneof(
      { weight: 6, arbitrary: fc.subarray(names) as fc.Arbitrary<Json> },
      { weight: drawing.wild ? 1 : 0, arbitrary: fc.constantFrom<Json>("a", [{}], [1, null], []) },
    ),
    orders: fc.shuffledSubarray<Json>([...WORDS, 1, 2, 3, 53, 80], { minLength: 2 }),
    deletions: fc.subarray<Json>(WORDS),
    list: fc.constantFrom(...(lists.length === 0 || drawing.wild ? ["nope", ...lists] : lists)),
  });
}

/** Adds directives to one patch in four or so; most orders agree with the patch's own list. */
function withDirectives(
  patch: JsonMap,
  directives: MapDirectives,
  dice: readonly [number, number, number],
  fields: readonly [string, Field][],
): JsonMap {
  const result: JsonMap = { ...patch };
  const field = new Map(fields).get(directives.list);
  if (dice[0] === 0) result.$patch = directives.patch;
  if (dice[0] === 1) {
    result.$retainKeys =
      dice[1] < 8 && Array.isArray(directives.retained)
        ? [...new Set([...directives.retained, ...Object.keys(patch)])]
        : directives.retained;
  }
  if (dice[1] < 3 && directives.list !== "nope") {
    const order = orderFor(patch[directives.list], directives.orders, field?.mergeKey ?? "", dice[2] < 8);
    result[`$setElementOrder/${directives.list}`] = order;
  }
  if (dice[2] === 0) result[`$deleteFromPrimitiveList/${directives.list}`] = directives.deletions;
  return result;
}

function orderFor(
  list: Json | undefined,
  pool: readonly Json[],
  mergeKey: string,
  agreeing: boolean,
): Json[] {
  const wrap = (identity: Json): Json => (mergeKey === "" ? identity : { [mergeKey]: identity });
  if (!agreeing || !Array.isArray(list)) return pool.map(wrap);
  const own = list.map((item) =>
    typeof item === "object" && item !== null && !Array.isArray(item) ? (item[mergeKey] ?? "a") : item,
  );
  const others = pool.filter((identity) => !own.includes(identity));
  const merged: Json[] = [];
  for (let index = 0; index < Math.max(own.length, others.length); index += 1) {
    if (index < others.length) merged.push(others[index]!);
    if (index < own.length) merged.push(own[index]!);
  }
  return merged.map(wrap);
}
