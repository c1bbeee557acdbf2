/** The kinds with one counterpart in the account each, and what concerns them. */
import {
  type CacheEvent,
  type EventHandler,
  type Kind,
  keyOf,
  type Manager,
  type MapFn,
  type ObjectKey,
  primaryChanged,
} from "@quartet/core";
import { ownerText } from "./desired/marker.ts";
import { CREDENTIALS, VIRTUAL_NETWORK } from "./kinds.ts";
import { createBackoff } from "./reconcile/backoff.ts";
import type { SimpleOptions } from "./reconcile/credentials.ts";
import { createResourceReconcile } from "./reconcile/one-to-one.ts";
import type { Remote, ResourceKind, ResourceObject, Wanted } from "./reconcile/resource.ts";
import { VIRTUAL_NETWORKS } from "./reconcile/virtual-network.ts";
import { createWaiters } from "./reconcile/waiters.ts";
import { namingSecret, watchSecrets } from "./watching.ts";

/** All of them. */
export const RESOURCE_KINDS: readonly Kind[] = [VIRTUAL_NETWORK];

type Options = Omit<SimpleOptions, "backoff">;

/** One controller for each kind. */
export function addResources(manager: Manager, options: Options): void {
  add(manager, options, "virtual-networks", VIRTUAL_NETWORKS);
}

function add<T extends ResourceObject, W extends Wanted, R extends Remote>(
  manager: Manager,
  options: Options,
  name: string,
  type: ResourceKind<T, W, R>,
): void {
  const { kind } = type;
  const waiters = createWaiters();
  // The end of an object concerns those that it stood in the way of.
  const onEvent: EventHandler<T> = (
    { type: what, object }: CacheEvent<T>,
    enqueue: (key: ObjectKey) => void,
  ) => {
    if (what !== "delete") return;
    const { namespace = "", name: gone = "" } = object.metadata;
    for (const key of waiters.of(ownerText({ kind: kind.kind, namespace, name: gone }))) enqueue(key);
  };
  const all: MapFn = async (_, cache) => (await cache.list(kind)).map(keyOf);
  const builder = manager
    .controller(`tunnel-${name}`)
    .for(kind, { onEvent })
    .watches(CREDENTIALS, all, { predicates: [primaryChanged] });
  watchSecrets(builder, options.operatorNamespace, all, namingSecret(kind, options.operatorNamespace));
  manager.add(
    builder.complete(createResourceReconcile(type, { ...options, waiters, backoff: createBackoff() })),
  );
}
