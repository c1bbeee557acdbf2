/** Setting and removing of labels. */
import type { KubeObject } from "@quartet/core";

/** Sets labels; those with `undefined` are removed. */
export function setLabels(object: KubeObject, values: Readonly<Record<string, string | undefined>>): void {
  const labels = { ...object.metadata.labels };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete labels[name];
    else labels[name] = value;
  }
  if (Object.keys(labels).length > 0) object.metadata.labels = labels;
  else delete object.metadata.labels;
}
