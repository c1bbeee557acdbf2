/** RFC 6902 with the API server's peculiarities. */
import jsonpatch, { type Operation } from "fast-json-patch";
import { isRecord, type JsonObject, sameJson } from "../json.ts";
import { badRequest, Failure } from "../status.ts";

/** The server takes no longer patches. */
const MAX_OPERATIONS = 10_000;
const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"];

function rejected(): Failure {
  const message = "the server rejected our request due to an error in our request";
  return new Failure(422, "Invalid", message, {});
}

/** The value that a pointer leads to, `undefined` when there is none. */
function valueAt(document: unknown, pointer: string): unknown {
  let current = document;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(current)) current = current[Number(key)];
    else if (isRecord(current) && Object.hasOwn(current, key)) current = current[key];
    else return undefined;
  }
  return current;
}

/** The document after all operations; throws 422 when one of them cannot be done. */
export function jsonPatch(document: JsonObject, patch: readonly unknown[]): unknown {
  if (patch.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw new Failure(413, "RequestEntityTooLarge", message);
  }
  let result: unknown = document;
  for (const operation of patch) {
    if (!isRecord(operation))
      throw badRequest("json: cannot unmarshal into Go value of type jsonpatch.Operation");
    if (!OPERATIONS.includes(String(operation.op))) throw rejected();
    const path = String(operation.path ?? "");
    const found = valueAt(result, path);
    if (operation.op === "test") {
      // a test for null holds where nothing is, as on the server
      if (!sameJson(found ?? null, operation.value ?? null)) throw rejected();
      continue;
    }
    // a replace of a missing key of a map adds it, as on the server
    const parent = valueAt(result, path.slice(0, path.lastIndexOf("/")));
    const adds = operation.op === "replace" && found === undefined && isRecord(parent);
    const done = adds ? { ...operation, op: "add" } : operation;
    try {
      result = jsonpatch.applyOperation(result, done as unknown as Operation, true, true).newDocument;
    } catch {
      throw rejected();
    }
  }
  return result;
}
