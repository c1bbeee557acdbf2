/** Takes a finalizer of the peer off an object that needs none here (D29, TUN-533). */
import type { Kind, KubeObject, ReconcileContext } from "@quartet/core";
import type { Cached } from "../kinds.ts";

/** Removes the finalizer; nothing when it is not there, or has gone in between. */
export async function dropFinalizer<T extends KubeObject>(
  kind: Kind<T>,
  { metadata }: Cached<T>,
  name: string,
  { client }: Pick<ReconcileContext, "client">,
): Promise<void> {
  const index = (metadata.finalizers ?? []).indexOf(name);
  if (index < 0) return;
  const path = `/metadata/finalizers/${index}`;
  const operations = [
    { op: "test" as const, path, value: name },
    { op: "remove" as const, path },
  ];
  const key = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  await client.patch(kind, key, { type: "json", operations });
}
