/** Compares what is wanted with what the API server holds. */
import { BUILT_IN, type Field, type Shape, type TypeName } from "@quartet/strategic-merge";
import { defaultOf } from "./defaults.ts";
import { equalJson, isMap, type JsonMap } from "./json.ts";
import { keyOfList } from "./lists.ts";
import { isPointer } from "./pointers.ts";
import { compareQuantities } from "./quantity.ts";

/**
 * Path of the first difference that would be a change, such as `spec.containers.demo.image`; `undefined` when there is
 * none. No differences are: what the server fills in for an absent field; false, 0, "" and {} against absent in fields
 * that the server cannot tell from absent; empty lists and maps; other spellings of a quantity; and the order of lists
 * whose elements are told apart by key.
 * @param type type of both, as the strategic merge names it: `PodTemplateSpec`, `PersistentVolumeClaim`
 */
export function difference(type: TypeName, desired: unknown, live: unknown, path = ""): string | undefined {
  if (!isMap(desired) || !isMap(live)) return equalJson(desired, live) ? undefined : path;
  const known = BUILT_IN.types.get(type);
  for (const member of new Set([...Object.keys(desired), ...Object.keys(live)])) {
    const at = join(path, member);
    const field = known?.get(member);
    const [wanted, found] = [desired[member] ?? undefined, live[member] ?? undefined];
    const different =
      field === undefined
        ? unknownDifference(wanted, found, at)
        : fieldDifference({ type, member, field, desired, live }, wanted, found, at);
    if (different !== undefined) return different;
  }
  return undefined;
}

/** Path of the first difference between two pod templates, from `metadata` or `spec` on. */
export function templateDifference(desired: object, live: object): string | undefined {
  return difference("PodTemplateSpec", withoutOwnPorts(desired), withoutOwnPorts(live));
}

/**
 * On the network of the host a container's port is that of the host: servers before 1.37 write it into templates. Elsewhere
 * it is a port of the host that the container would not have.
 */
function withoutOwnPorts(template: object): object {
  const { spec } = template as JsonMap;
  if (!isMap(spec) || spec.hostNetwork !== true) return template;
  const stripped = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map((container) => (isMap(container) ? withoutPorts(container) : container))
      : list;
  const { containers, initContainers } = spec;
  return {
    ...template,
    spec: {
      ...spec,
      containers: stripped(containers),
      ...(initContainers !== undefined && { initContainers: stripped(initContainers) }),
    },
  };
}

function withoutPorts(container: JsonMap): JsonMap {
  if (!Array.isArray(container.ports)) return container;
  const ports = container.ports.map((port: unknown) => {
    if (!isMap(port) || port.hostPort !== port.containerPort) return port;
    const { hostPort: _own, ...rest } = port;
    return rest;
  });
  return { ...container, ports };
}

const join = (path: string, member: string): string => (path === "" ? member : `${path}.${member}`);

const unknownDifference = (wanted: unknown, found: unknown, path: string): string | undefined =>
  equalJson(wanted, found) ? undefined : path;

interface Place {
  readonly type: TypeName;
  readonly member: string;
  readonly field: Field;
  /** The object that is wanted around the field, and the one that is there. */
  readonly desired: JsonMap;
  readonly live: JsonMap;
}

function fieldDifference(
  { type, member, field: { shape }, desired, live }: Place,
  wanted: unknown,
  found: unknown,
  path: string,
): string | undefined {
  const pointer = isPointer(type, member);
  if (meansAbsent(shape, wanted, pointer)) {
    if (meansAbsent(shape, found, pointer)) return undefined;
    const fallback = defaultOf(type, member, desired);
    return fallback !== undefined && valueDifference(shape, fallback, found, path) === undefined
      ? undefined
      : path;
  }
  if (found === undefined) {
    // A default that is written out changes nothing where the server keeps it absent.
    return equalJson(wanted, defaultOf(type, member, live)) ? undefined : path;
  }
  if (shape.kind === "list" && Array.isArray(wanted) && Array.isArray(found)) {
    return listDifference({ type, member, items: shape.items }, wanted, found, path);
  }
  return valueDifference(shape, wanted, found, path);
}

/** Whether the server cannot tell a value from an absent one. */
function meansAbsent(shape: Shape, value: unknown, pointer: boolean): boolean {
  if (value === undefined) return true;
  switch (shape.kind) {
    case "list":
      return Array.isArray(value) && value.length === 0;
    case "freeMap":
      return isMap(value) && Object.keys(value).length === 0;
    case "map":
      return !pointer && isMap(value) && difference(shape.type, {}, value) === undefined;
    case "scalar":
      if (pointer) return false;
      if (shape.scalar === "quantity") return compareQuantities(value, 0) === 0;
      return value === "" || value === false || value === 0;
  }
}

function valueDifference(shape: Shape, wanted: unknown, found: unknown, path: string): string | undefined {
  switch (shape.kind) {
    case "map":
      return difference(shape.type, wanted, found, path);
    case "freeMap":
      return mapDifference(shape.values, wanted, found, path);
    case "list":
      if (!Array.isArray(wanted) || !Array.isArray(found)) return path;
      return listDifference({ type: "", member: "", items: shape.items }, wanted, found, path);
    case "scalar": {
      if (shape.scalar === "quantity" && compareQuantities(wanted, found) === 0) return undefined;
      return equalJson(wanted, found) ? undefined : path;
    }
  }
}

/** A map whose keys the author chooses: an empty value is a value. */
function mapDifference(values: Shape, wanted: unknown, found: unknown, path: string): string | undefined {
  if (!isMap(wanted) || !isMap(found)) return path;
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(found)])) {
    const at = join(path, key);
    if (wanted[key] === undefined || found[key] === undefined) return at;
    const different = valueDifference(values, wanted[key], found[key], at);
    if (different !== undefined) return different;
  }
  return undefined;
}

interface List {
  readonly type: TypeName;
  readonly member: string;
  readonly items: Shape;
}

function listDifference(
  { type, member, items }: List,
  wanted: readonly unknown[],
  found: readonly unknown[],
  path: string,
): string | undefined {
  if (wanted.length !== found.length) return path;
  const key = keyOfList(type, member, wanted);
  // Of equal keys the first belong together, then the second.
  const places = new Map<string, unknown[]>();
  if (key !== undefined) {
    for (const item of found) {
      const id = isMap(item) ? key(item) : "";
      places.set(id, [...(places.get(id) ?? []), item]);
    }
  }
  for (const [index, item] of wanted.entries()) {
    const other = key !== undefined && isMap(item) ? places.get(key(item))?.shift() : found[index];
    const name = isMap(item) && typeof item.name === "string" ? item.name : String(index);
    const different = valueDifference(items, item, other, `${path}.${name}`);
    if (different !== undefined) return different;
  }
  return undefined;
}
