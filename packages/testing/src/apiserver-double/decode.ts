/** From a JSON value to an object of a type: decoded, pruned, defaulted. */
import { type JsonObject, text } from "./json.ts";
import type { KubeObject } from "./object.ts";
import { apiVersionOf, type ResourceType } from "./registry.ts";
import { DecodeError, decodeTyped } from "./schemas/decode.ts";
import type { Server } from "./server.ts";
import { badRequest } from "./status.ts";

export interface Decoded {
  object: KubeObject;
  /** Paths of fields that were dropped. */
  unknown: string[];
}

function checkKind(type: ResourceType, value: JsonObject): void {
  const apiVersion = text(value.apiVersion);
  const kind = text(value.kind);
  const wanted = apiVersionOf(type);
  if (type.custom !== undefined) {
    if (kind === "") {
      throw badRequest(
        `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${JSON.stringify(value).slice(0, 200)}'`,
      );
    }
    if (apiVersion !== wanted) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
      );
    }
  }
  const foreignVersion = apiVersion !== "" && apiVersion !== wanted;
  if (!foreignVersion && (kind === "" || kind === type.kind)) return;
  const why =
    foreignVersion && kind === type.kind
      ? `no kind "${kind}" is registered for version "${apiVersion}"`
      : `converting (${apiVersion}.${kind}) to (${type.version}.${type.kind}): unknown conversion`;
  throw badRequest(`${kind} in version "${apiVersion}" cannot be handled as a ${type.kind}: ${why}`);
}

function decodeCustom(server: Server, type: ResourceType, value: JsonObject): Decoded {
  const metadata = decodeTyped(server.metadataSchema, value.metadata ?? {});
  const unknown = metadata.unknown.map((path) => `metadata.${path}`);
  const object: JsonObject = {
    ...value,
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: metadata.object,
  };
  type.custom!.prune(object, unknown);
  type.custom!.defaults(object);
  return { object: object as KubeObject, unknown };
}

function decodeBuiltin(type: ResourceType, value: JsonObject): Decoded {
  const { object, unknown } = decodeTyped(type.schema, value);
  object.apiVersion = apiVersionOf(type);
  object.kind = type.kind;
  type.strategy.defaults?.(object as KubeObject);
  return { object: object as KubeObject, unknown };
}

/** Decodes a body; the value is not changed. Throws 400 for another kind or a value of the wrong type. */
export function decodeObject(server: Server, type: ResourceType, value: JsonObject): Decoded {
  checkKind(type, value);
  try {
    return type.custom === undefined ? decodeBuiltin(type, value) : decodeCustom(server, type, value);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${error.message}`,
    );
  }
}
