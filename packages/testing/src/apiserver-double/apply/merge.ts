/** Merging an applied configuration into a live object, and taking out what is no longer applied. */
import { cloneJson, isRecord, type JsonObject, setKey } from "../json.ts";
import type { Schema } from "../schemas/schema.ts";
import type { FieldSet } from "./field-set.ts";
import { elementKey, fieldSchema, shapeOf } from "./typed.ts";

/**
 * Order of the elements of a merged list. Elements that only the live list has keep their places relative to the
 * shared ones; the shared ones take the order in which they are applied.
 */
function mergedOrder(live: readonly string[], applied: readonly string[]): string[] {
  const wanted = new Set(applied);
  const known = new Set(live);
  const order = new Set<string>();
  const shared = applied.filter((key) => known.has(key));
  let left = 0;
  for (const next of applied) {
    for (; left < live.length; left += 1) {
      const key = live[left]!;
      // the applied element that is due comes first, unless another one is
      const due = wanted.has(key) && (key === next || (key === shared[0] && !order.has(key)));
      if (due) break;
      if (!wanted.has(key)) order.add(key);
    }
    order.add(next);
    if (live[left] === next) left += 1;
    if (shared[0] === next) shared.shift();
  }
  for (const key of live.slice(left)) if (!wanted.has(key)) order.add(key);
  return [...order];
}

function mergeElements(schema: Schema, live: unknown, applied: readonly unknown[]): unknown[] {
  const keyOf = (element: unknown): string => elementKey(schema, element);
  const old = new Map((Array.isArray(live) ? live : []).map((element) => [keyOf(element), element]));
  const own = new Map(applied.map((element) => [keyOf(element), element]));
  return mergedOrder([...old.keys()], [...own.keys()]).map((key) => {
    if (!own.has(key)) return cloneJson(old.get(key));
    return mergeValue(schema.items ?? { type: "any" }, old.get(key), own.get(key));
  });
}

function mergeValue(schema: Schema, live: unknown, applied: unknown): unknown {
  const shape = shapeOf(schema, applied);
  if (shape === "elements") return mergeElements(schema, live, applied as unknown[]);
  if (shape === "leaf" || !isRecord(applied)) return cloneJson(applied);
  const result: JsonObject = isRecord(live) ? cloneJson(live) : {};
  for (const [key, value] of Object.entries(applied)) {
    const before = Object.hasOwn(result, key) ? result[key] : undefined;
    setKey(result, key, mergeValue(fieldSchema(schema, key), before, value));
  }
  return result;
}

/** A live object with a configuration on top. */
export function mergeApplied(schema: Schema, live: JsonObject, applied: JsonObject): JsonObject {
  return mergeValue(schema, live, applied) as JsonObject;
}

/** Takes the paths of a set out of a value, in place. */
export function removeFields(schema: Schema, value: unknown, set: FieldSet): unknown {
  if (Array.isArray(value)) {
    if (shapeOf(schema, value) !== "elements") return value;
    return value
      .filter((element) => set.get(elementKey(schema, element))?.self !== true)
      .map((element) => {
        const node = set.get(elementKey(schema, element));
        if (node === undefined || !isRecord(element)) return element;
        const keys = Object.fromEntries((schema.keys ?? []).map((key) => [key, element[key]]));
        const rest = removeFields(schema.items!, element, node.below) as JsonObject;
        // an element that stays keeps what identifies it
        for (const [key, own] of Object.entries(keys)) if (own !== undefined) setKey(rest, key, own);
        return rest;
      });
  }
  if (!isRecord(value)) return value;
  for (const key of Object.keys(value)) {
    const node = set.get(`f:${key}`);
    if (node === undefined) continue;
    if (node.self) delete value[key];
    else setKey(value, key, removeFields(fieldSchema(schema, key), value[key], node.below));
  }
  return value;
}
