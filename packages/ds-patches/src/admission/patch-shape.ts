/** What is wrong with a patch by itself: fields, types, merge keys and directives (DSP-342 to 350, 353). */
import {
  BUILT_IN,
  type Field,
  itemPath,
  memberPath,
  type Shape,
  type TypeName,
  type TypeTable,
} from "@quartet/strategic-merge";
import { isReservedKey } from "../desired/placement.ts";
import { isMap } from "../json.ts";
import { ROOT_TYPE, scalarMistake, suggestion } from "./schema.ts";
import type { Violation } from "./verdict.ts";

const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
const ELEMENT_ORDER = "$setElementOrder";
const PRIMITIVE_DELETION = "$deleteFromPrimitiveList";
const ROOT_FIELDS = ["metadata", "spec"];
const METADATA_FIELDS = ["labels", "annotations", "finalizers"];
/** Maps that `$patch` would empty with all that the template has. */
const WHOLE_MAPS = ["", "metadata", "spec"];
const NODE_FIELDS = ["spec.nodeName", "spec.nodeSelector"];
const DIRECTIVE_VALUES = ["replace", "delete"];

interface Walk {
  readonly table: TypeTable;
  readonly found: Violation[];
}

/** Mistakes of a patch, at paths from its root. Whether it does something sensible to a template is another question. */
export function shapeViolations(patch: unknown, table: TypeTable = BUILT_IN): Violation[] {
  if (!isMap(patch)) return [{ path: "", message: "must be an object: a strategic merge patch" }];
  const walk: Walk = { table, found: [] };
  walkMap(walk, ROOT_TYPE, patch, "");
  return walk.found;
}

function add({ found }: Walk, path: string, message: string): void {
  found.push({ path, message });
}

function walkMap(walk: Walk, type: TypeName, map: Record<string, unknown>, path: string): void {
  const fields = walk.table.types.get(type);
  const directive = map[PATCH];
  if (directive !== undefined) checkDirective(walk, directive, path);
  checkRetainKeys(walk, map, path);
  for (const [key, value] of Object.entries(map)) {
    const at = memberPath(path, key);
    if (key.startsWith("$")) {
      checkKeyDirective(walk, fields, map, key, value, path);
      continue;
    }
    if (isForbidden(walk, key, at, path)) continue;
    const field = fields?.get(key);
    if (field === undefined) {
      add(walk, at, `unknown field${suggestion(key, fields)}`);
    } else if (value !== null) {
      walkField(walk, field, value, at);
    }
  }
}

/** Fields that no patch may touch, told as such; they need no further look. */
function isForbidden(walk: Walk, key: string, at: string, path: string): boolean {
  if (path === "" && !ROOT_FIELDS.includes(key)) {
    add(walk, at, "forbidden: a patch is rooted at the pod template, with metadata and spec alone");
  } else if (at === "spec.template") {
    add(walk, at, "forbidden: the patch is rooted at the pod template already; remove the extra level");
  } else if (path === "metadata" && !METADATA_FIELDS.includes(key)) {
    add(walk, at, `forbidden: a patch may set ${METADATA_FIELDS.join(", ")} alone; remove it`);
  } else if (NODE_FIELDS.includes(at)) {
    add(walk, at, "forbidden: the pod must stay on its node; remove it");
  } else if (["metadata.labels", "metadata.annotations"].includes(path) && isReservedKey(key)) {
    add(walk, at, "forbidden: the key is reserved for the controller; remove it");
  } else {
    return false;
  }
  return true;
}

function walkField(walk: Walk, field: Field, value: unknown, at: string): void {
  const { shape } = field;
  if (shape.kind !== "list") {
    walkValue(walk, shape, value, at);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      walkItem(walk, field, shape.items, item, itemPath(at, index));
  } else {
    add(walk, at, "must be a list");
  }
}

function walkItem(
  walk: Walk,
  { strategies, mergeKey }: Field,
  shape: Shape,
  item: unknown,
  at: string,
): void {
  if (isMap(item)) {
    const merged = strategies.includes("merge");
    if (!merged && item[PATCH] !== undefined) {
      const message = "forbidden: the list is replaced as a whole; remove the directive";
      add(walk, memberPath(at, PATCH), message);
      return;
    }
    if (merged && item[PATCH] === "replace") return;
    if (merged && mergeKey !== "" && (item[mergeKey] ?? null) === null) {
      add(walk, at, `must contain ${mergeKey}, by which items of the list are told apart`);
    }
  }
  walkValue(walk, shape, item, at);
}

function walkValue(walk: Walk, shape: Shape, value: unknown, at: string): void {
  if (value === null) return;
  switch (shape.kind) {
    case "map":
      if (isMap(value)) walkMap(walk, shape.type, value, at);
      else add(walk, at, "must be an object");
      return;
    case "freeMap":
      if (isMap(value)) walkFreeMap(walk, shape.values, value, at);
      else add(walk, at, "must be an object");
      return;
    case "list":
      if (!Array.isArray(value)) add(walk, at, "must be a list");
      else
        for (const [index, item] of value.entries()) walkValue(walk, shape.items, item, itemPath(at, index));
      return;
    default: {
      const mistake = scalarMistake(shape.scalar, value);
      if (mistake !== undefined) add(walk, at, mistake);
    }
  }
}

function walkFreeMap(walk: Walk, values: Shape, map: Record<string, unknown>, path: string): void {
  if (map[PATCH] !== undefined) checkDirective(walk, map[PATCH], path);
  checkRetainKeys(walk, map, path);
  for (const [key, value] of Object.entries(map)) {
    const at = memberPath(path, key);
    if (key === PATCH || key === RETAIN_KEYS) continue;
    if (!isForbidden(walk, key, at, path)) walkValue(walk, values, value, at);
  }
}

function checkDirective(walk: Walk, directive: unknown, path: string): void {
  const at = memberPath(path, PATCH);
  if (WHOLE_MAPS.includes(path)) {
    add(walk, at, "forbidden: it would drop all that the template has there; remove it");
  } else if (!DIRECTIVE_VALUES.includes(directive as string)) {
    add(walk, at, `unknown directive value: use ${DIRECTIVE_VALUES.join(" or ")}`);
  }
}

function checkRetainKeys(walk: Walk, map: Record<string, unknown>, path: string): void {
  const retained = map[RETAIN_KEYS];
  if (retained === undefined) return;
  const at = memberPath(path, RETAIN_KEYS);
  if (!Array.isArray(retained) || retained.some((key) => typeof key !== "string")) {
    add(walk, at, "invalid patch format: must be a list of field names");
    return;
  }
  const missing = Object.entries(map).find(
    ([key, value]) => !key.startsWith("$") && value !== null && !retained.includes(key),
  );
  if (missing) add(walk, at, `invalid patch format: must contain ${missing[0]}, which the patch sets`);
}

/** Directives that name a list of the map in their own key. */
function checkKeyDirective(
  walk: Walk,
  fields: ReadonlyMap<string, Field> | undefined,
  map: Record<string, unknown>,
  key: string,
  value: unknown,
  path: string,
): void {
  if (key === PATCH || key === RETAIN_KEYS) return;
  const directive = [ELEMENT_ORDER, PRIMITIVE_DELETION].find((name) => key.startsWith(name));
  const list =
    directive !== undefined && key.startsWith(`${directive}/`) ? key.slice(directive.length + 1) : "";
  const problem = ((): string | undefined => {
    if (directive === undefined) return "unknown directive: remove it";
    if (list === "") return `invalid patch format: write ${directive}/<list>`;
    if (fields?.get(list)?.shape.kind !== "list") {
      return `invalid patch format: there is no list ${list}${suggestion(list, fields)}`;
    }
    if (!Array.isArray(value)) return "invalid patch format: must be a list";
    const isSet = map[list] !== undefined && map[list] !== null;
    return directive === PRIMITIVE_DELETION && isSet
      ? `may not stand beside ${list}: set the list, or delete from it`
      : undefined;
  })();
  if (problem !== undefined) add(walk, memberPath(path, key), problem);
}
