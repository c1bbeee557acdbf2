/** The forms in which objects leave the server: whole, metadata only, or as a table. */
import type { Call } from "./call.ts";
import type { JsonObject } from "./json.ts";
import type { KubeObject } from "./object.ts";
import { apiVersionOf } from "./registry.ts";
import type { Server } from "./server.ts";
import { Failure } from "./status.ts";
import { tableOf } from "./table/table.ts";

export interface View {
  /** One object, for a GET or the answer to a write. */
  one(object: KubeObject): string;
  /** One object inside a watch event; `first` of its stream. */
  event(object: KubeObject, first: boolean): string;
  list(objects: readonly KubeObject[], metadata: JsonObject): string;
  /** A bookmark's object. */
  bookmark(metadata: JsonObject): string;
}

const META_V1 = "meta.k8s.io/v1";

function fullView(server: Server, call: Call): View {
  const { type } = call;
  return {
    one: (object) => server.json(object),
    event: (object) => server.json(object),
    list(objects, metadata) {
      // built-in lists do not repeat the kind on every item
      const print = type.custom === undefined ? server.itemJson : server.json;
      const head = JSON.stringify({ kind: type.listKind, apiVersion: apiVersionOf(type), metadata });
      return `${head.slice(0, -1)},"items":[${objects.map(print).join(",")}]}`;
    },
    bookmark: (metadata) => {
      const empty = type.custom === undefined ? emptyBuiltin(type.kind) : {};
      return JSON.stringify({ kind: type.kind, apiVersion: apiVersionOf(type), metadata, ...empty });
    },
  };
}

/** Structs that a typed bookmark prints although they are empty. */
function emptyBuiltin(kind: string): JsonObject {
  return kind === "Pod" ? { spec: { containers: null }, status: {} } : {};
}

function partial(object: KubeObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: META_V1, metadata: object.metadata };
}

function metadataView(): View {
  const print = (object: KubeObject): string => JSON.stringify(partial(object));
  return {
    one: print,
    event: print,
    list: (objects, metadata) =>
      JSON.stringify({
        kind: "PartialObjectMetadataList",
        apiVersion: META_V1,
        metadata,
        items: objects.map((object) => partial(object)),
      }),
    bookmark: (metadata) => JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: META_V1, metadata }),
  };
}

function tableView(server: Server, call: Call): View {
  const include = call.query.get("includeObject") ?? "Metadata";
  const print = (objects: readonly KubeObject[], metadata: JsonObject, columns: boolean): string =>
    JSON.stringify(tableOf(call.type, objects, metadata, { include, columns, now: server.clock.now() }));
  return {
    one: (object) => print([object], { resourceVersion: object.metadata.resourceVersion }, true),
    event: (object, first) => print([object], { resourceVersion: object.metadata.resourceVersion }, first),
    list: (objects, metadata) => print(objects, metadata, true),
    bookmark: (metadata) => print([{ ...call.type, metadata } as unknown as KubeObject], metadata, false),
  };
}

/** The view that the `Accept` header asks for. */
export function viewOf(server: Server, call: Call): View {
  const accept = call.headers.accept ?? "";
  if (accept === "") return fullView(server, call);
  for (const entry of accept.split(",")) {
    const [media = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
    if (
      media !== "application/json" &&
      media !== "*/*" &&
      media !== "application/*" &&
      media !== "application/yaml"
    ) {
      continue;
    }
    if (as === undefined) return fullView(server, call);
    if (!parameters.includes("v=v1")) continue;
    if (as === "Table") return tableView(server, call);
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return metadataView();
  }
  throw new Failure(
    406,
    "NotAcceptable",
    "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    {},
  );
}
