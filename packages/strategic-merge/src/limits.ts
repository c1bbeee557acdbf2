/** Bounds of what is merged: the engine recurses, and compares the items of a list with each other. */
import { StrategicMergeError } from "./errors.ts";
import type { Json } from "./json.ts";

/** Levels of maps and lists. The deepest type of the API, that of custom resource definitions, is used with about 60. */
const MAX_LEVELS = 200;
/** Items of a list that is merged one by one. Pods with some hundred variables are the largest known. */
const MAX_ITEMS = 2_000;

/** Throws for a value of too many levels. Walks level by level, so depth costs no stack. */
export function checkDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      if (depth === MAX_LEVELS) {
        throw new StrategicMergeError("TooLarge", "", `is nested deeper than ${MAX_LEVELS} levels`);
      }
      for (const child of Array.isArray(item) ? item : Object.values(item)) below.push(child);
    }
    level = below;
  }
}

/** Throws for a list that is too long to be merged item by item; `path` leads to it. */
export function checkLength(list: readonly Json[], path: string): void {
  if (list.length <= MAX_ITEMS) return;
  throw new StrategicMergeError(
    "TooLarge",
    path,
    `holds ${list.length} items; at most ${MAX_ITEMS} can be merged`,
  );
}
