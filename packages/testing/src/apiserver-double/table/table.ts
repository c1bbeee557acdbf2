/** `meta.k8s.io/v1` Table, what kubectl prints. */
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { NAME_COLUMN } from "./columns.ts";

export interface TableOptions {
  /** What each row carries along: `Metadata`, `Object` or `None`. */
  include: string;
  /** Column definitions are printed; later events of a watch leave them out. */
  columns: boolean;
  now: number;
}

function rowObject(object: KubeObject, include: string): JsonObject | null {
  if (include === "None") return null;
  if (include === "Object") return object as unknown as JsonObject;
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

export function tableOf(
  type: ResourceType,
  objects: readonly KubeObject[],
  metadata: JsonObject,
  options: TableOptions,
): JsonObject {
  const columns = [NAME_COLUMN, ...type.columns];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: options.columns
      ? columns.map(({ name, type: kind, format, description, priority }) => ({
          name,
          type: kind,
          format: format ?? "",
          description: description ?? "",
          priority: priority ?? 0,
        }))
      : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.value(object, options.now)),
      object: rowObject(object, options.include),
    })),
  };
}
