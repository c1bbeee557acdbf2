/** Strategic merge patch of built-in kinds. */
import { strategicMerge as merge, StrategicMergeError, typeForKind } from "@quartet/strategic-merge";
import type { JsonObject } from "../json.ts";
import type { ResourceType } from "../registry.ts";
import { badRequest } from "../status.ts";
import { mergePatch } from "./merge-patch.ts";

/** The value of an object with a strategic merge patch applied. */
export function strategicMerge(type: ResourceType, value: JsonObject, patch: JsonObject): unknown {
  const name = typeForKind(type.group, type.version, type.kind);
  // a kind without merge keys of its own merges like any map
  if (name === undefined) return mergePatch(value, patch);
  try {
    return merge(name, value, patch);
  } catch (error) {
    if (!(error instanceof StrategicMergeError)) throw error;
    throw badRequest(error.message);
  }
}
