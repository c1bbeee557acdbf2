/** JSON of unknown shape, as a user wrote it. */
import type { JsonMap } from "@quartet/strategic-merge";

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The map, or an empty one for anything else. */
export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {};
}

/** The maps of a list; nothing for anything else. */
export function mapsOf(value: unknown): JsonMap[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}
