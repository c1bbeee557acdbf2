/** Strategic merge patch of built-in kinds. */
import type { JsonObject } from "../json.ts";
import type { ResourceType } from "../registry.ts";
import { mergePatch } from "./merge-patch.ts";

export function strategicMerge(_type: ResourceType, value: JsonObject, patch: JsonObject): unknown {
  return mergePatch(value, patch);
}
