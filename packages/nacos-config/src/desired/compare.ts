/** Compares what is wanted with what the API server holds. */
import { sameJson } from "@quartet/core";
import type { JsonMap } from "./k8s.ts";
import { compareQuantities } from "./quantity.ts";
import type { Shape } from "./template-shape.ts";
import { isMap } from "./wrapper/keyed.ts";

const NO_SHAPE: Shape = {};

/**
 * Path of the first difference that would be a change, such as `containers.demo.image`; `undefined` when there is
 * none. What the server fills in and empty values that it drops are no difference; neither is the order of keyed lists.
 */
export function difference(desired: unknown, live: unknown, shape: Shape, path = ""): string | undefined {
  if (isMap(desired) && isMap(live)) return mapDifference(desired, live, shape, path);
  if (Array.isArray(desired) && Array.isArray(live)) return listDifference(desired, live, shape, path);
  if (shape.quantity && compareQuantities(desired, live) === 0) return undefined;
  return equalScalars(desired, live) ? undefined : path;
}

function mapDifference(desired: JsonMap, live: JsonMap, shape: Shape, path: string): string | undefined {
  for (const member of new Set([...Object.keys(desired), ...Object.keys(live)])) {
    const at = path === "" ? member : `${path}.${member}`;
    const wanted = desired[member];
    const found = live[member];
    const absent = isEmpty(wanted) || (shape.zeroIsAbsent && isZero(wanted));
    if (absent && (isEmpty(found) || isDefault(shape, member, found, desired))) continue;
    if (isZero(wanted) && found === undefined) continue;
    if (shape.quantities && compareQuantities(wanted, found) === 0) continue;
    const different = difference(wanted, found, shape.members?.[member] ?? NO_SHAPE, at);
    if (different !== undefined) return different;
  }
  return undefined;
}

function listDifference(
  desired: readonly unknown[],
  live: readonly unknown[],
  shape: Shape,
  path: string,
): string | undefined {
  if (desired.length !== live.length) return path;
  const { key } = shape;
  const rest = [...live];
  for (const [index, wanted] of desired.entries()) {
    const keyed = key !== undefined && isMap(wanted);
    const found = keyed ? take(rest, (item) => isMap(item) && key(item) === key(wanted)) : live[index];
    const at = `${path}.${isMap(wanted) && typeof wanted.name === "string" ? wanted.name : index}`;
    const different = difference(wanted, found, shape.items ?? NO_SHAPE, at);
    if (different !== undefined) return different;
  }
  return undefined;
}

/** Removes the first element that passes the test: of equal keys the first belong together, then the second. */
function take(list: unknown[], test: (item: unknown) => boolean): unknown {
  const at = list.findIndex((item) => test(item));
  return at < 0 ? undefined : list.splice(at, 1)[0];
}

function isDefault(shape: Shape, member: string, found: unknown, desired: JsonMap): boolean {
  const fallback = shape.defaults?.[member];
  if (fallback === undefined) return false;
  return sameJson(found, typeof fallback === "function" ? fallback(desired) : fallback);
}

/** Absent, null, and what the server does not tell from absent: empty text, map or list. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).length === 0;
}

/** Values that the server drops from fields that have no other meaning for absent. */
function isZero(value: unknown): boolean {
  return value === false || value === 0;
}

function equalScalars(desired: unknown, live: unknown): boolean {
  return desired === live || (isEmpty(desired) && isEmpty(live));
}
