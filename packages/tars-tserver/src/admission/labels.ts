/** Setting and removing of labels. */
import type { KubeObject } from "@quartet/core";

/** Sets labels; those with `undefined`, or with what is no text and which the schema refuses, are removed. */
export function setLabels(object: KubeObject, values: Readonly<Record<string, unknown>>): void {
  const labels = { ...object.metadata.labels };
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string") labels[name] = value;
    else delete labels[name];
  }
  if (Object.keys(labels).length > 0) object.metadata.labels = labels;
  else delete object.metadata.labels;
}
