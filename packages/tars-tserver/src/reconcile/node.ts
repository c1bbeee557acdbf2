/** Marks nodes that some framework may use. */
import { keyOf, type Reconcile } from "@quartet/core";
import { FIELD_MANAGER } from "../identity.ts";
import { NODE } from "../kinds.ts";
import { NODE_LABEL, NODE_LABEL_PREFIX } from "../labels.ts";

/** The reconcile of nodes. */
export const reconcileNode: Reconcile = async (key, { client, cache, signal }) => {
  const node = await cache.get(NODE, key);
  if (node === undefined || node.metadata.deletionTimestamp !== undefined) return;
  const labels = node.metadata.labels ?? {};
  const usable = Object.keys(labels).some((label) => label.startsWith(NODE_LABEL_PREFIX));
  const marked = labels[NODE_LABEL] !== undefined;
  if (usable === marked) return;
  const path = `/metadata/labels/${NODE_LABEL.replaceAll("/", "~1")}`;
  const operation = usable ? ({ op: "add", path, value: "" } as const) : ({ op: "remove", path } as const);
  await client.patch(
    NODE,
    keyOf(node),
    { type: "json", operations: [operation] },
    { signal, fieldManager: FIELD_MANAGER },
  );
};
