/** PATCH in its four content types. */

import { applyPatch, refuseForce } from "../apply/apply.ts";
import { jsonPatch } from "../apply/json-patch.ts";
import { mergePatch } from "../apply/merge-patch.ts";
import { strategicMerge } from "../apply/strategic.ts";
import { contentType, fieldValidation, parseText, reportFields, unsupportedMedia } from "../body.ts";
import type { Call } from "../call.ts";
import { decodeObject } from "../decode.ts";
import { cloneJson, isRecord, type JsonObject } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Server } from "../server.ts";
import { badRequest, invalid, invalidValue } from "../status.ts";
import { type Updated, update } from "./update.ts";

export const JSON_PATCH = "application/json-patch+json";
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";

type Patcher = (value: JsonObject) => unknown;

/** The patch of a request as a function of the object's JSON value. */
export function patcherOf(call: Call): Patcher {
  const type = contentType(call);
  const accepted = [
    JSON_PATCH,
    MERGE_PATCH,
    ...(call.type.custom === undefined ? [STRATEGIC_PATCH] : []),
    APPLY_PATCH,
  ];
  if (!accepted.includes(type) || type === APPLY_PATCH) throw unsupportedMedia(accepted);
  const patch = parseText(call.body, false);
  if (type === JSON_PATCH) {
    if (!Array.isArray(patch)) {
      throw badRequest("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
    }
    return (value) => jsonPatch(value, patch);
  }
  if (!isRecord(patch))
    throw badRequest(
      "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}",
    );
  if (type === MERGE_PATCH) return (value) => mergePatch(value, patch);
  return (value) => strategicMerge(call.type, value, patch);
}

/** Unknown fields of a patched object: in strict mode the patch is invalid. */
function reportPatched(call: Call, unknown: readonly string[]): void {
  if (fieldValidation(call) !== "Strict" || unknown.length === 0) {
    reportFields(call, unknown, []);
    return;
  }
  const why = `strict decoding error: ${unknown.map((path) => `unknown field "${path}"`).join(", ")}`;
  throw invalid({ group: "", kind: "" }, "", [invalidValue("patch", call.body, why)]);
}

/** PATCH of an object or its status. */
export async function patch(server: Server, call: Call): Promise<Updated> {
  if (contentType(call) === APPLY_PATCH) return await applyPatch(server, call);
  refuseForce(call);
  const patcher = patcherOf(call);
  const build = (old: KubeObject): KubeObject => {
    const result = patcher(cloneJson(old) as unknown as JsonObject);
    if (!isRecord(result)) throw badRequest("the patch does not leave an object");
    const { object, unknown } = decodeObject(server, call.type, result);
    reportPatched(call, unknown);
    return object;
  };
  return { object: await update(server, call, { build }), created: false };
}
