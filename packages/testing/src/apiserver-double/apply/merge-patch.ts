/** RFC 7386. */
import { cloneJson, isRecord, type JsonObject, setKey } from "../json.ts";

/** The target with a merge patch applied; the target is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return cloneJson(patch);
  const result: JsonObject = isRecord(target) ? target : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setKey(result, key, mergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result;
}
