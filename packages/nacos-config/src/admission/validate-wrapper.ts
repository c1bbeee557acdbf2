/** Checks of the wrapper, which has no schema. */

import type { JsonMap } from "@quartet/core/kinds";
import { isMap, itemsOf } from "@quartet/pod-template";
import type { Violation } from "./violation.ts";

/** Lists that are merged element by element: anything else in their place would get lost on the way to the server. */
const POD_LISTS = [
  "containers",
  "initContainers",
  "volumes",
  "tolerations",
  "hostAliases",
  "topologySpreadConstraints",
];
const CONTAINER_LISTS = ["env", "ports", "volumeMounts", "volumeDevices"];

/** Faults of the lists that the wrapper's values are merged into. */
export function malformedLists(wrapper: JsonMap, path: string): Violation[] {
  return [
    ...malformed(wrapper, POD_LISTS, path),
    ...["containers", "initContainers"].flatMap((field) =>
      itemsOf(wrapper[field]).flatMap((container, index) =>
        malformed(container, CONTAINER_LISTS, `${path}.${field}[${index}]`),
      ),
    ),
  ];
}

function malformed(object: JsonMap, fields: readonly string[], path: string): Violation[] {
  return fields
    .filter((field) => object[field] !== undefined && object[field] !== null && !isListOfMaps(object[field]))
    .map((field) => ({
      path: `${path}.${field}`,
      reason: "WrapperInvalid",
      message: "must be a list of objects",
    }));
}

function isListOfMaps(value: unknown): boolean {
  return Array.isArray(value) && value.every(isMap);
}
