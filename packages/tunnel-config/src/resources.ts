/** The kinds with one counterpart in the account each, and what concerns them. */
import {
  type CacheEvent,
  type ControllerBuilder,
  type DeepReadonly,
  type EventHandler,
  type Kind,
  type KubeObject,
  keyOf,
  type Manager,
  type MapFn,
  type ObjectKey,
  type Predicate,
  primaryChanged,
} from "@quartet/core";
import { ownerIn } from "./desired/marker.ts";
import {
  ACCESS_APPLICATION,
  ACCESS_GROUP,
  CLUSTER_TUNNEL,
  CREDENTIALS,
  GATEWAY_RULE,
  NETWORK_ROUTE,
  R2_BUCKET,
  TUNNEL,
  VIRTUAL_NETWORK,
} from "./kinds.ts";
import { ACCESS_APPLICATIONS } from "./reconcile/access-application.ts";
import { ACCESS_GROUPS } from "./reconcile/access-group.ts";
import { createBackoff } from "./reconcile/backoff.ts";
import type { SimpleOptions } from "./reconcile/credentials.ts";
import { GATEWAY_RULES } from "./reconcile/gateway-rule.ts";
import { NETWORK_ROUTES } from "./reconcile/network-route.ts";
import { createResourceReconcile } from "./reconcile/one-to-one.ts";
import { R2_BUCKETS } from "./reconcile/r2-bucket.ts";
import type { Remote, ResourceKind, ResourceObject, Wanted } from "./reconcile/resource.ts";
import { VIRTUAL_NETWORKS } from "./reconcile/virtual-network.ts";
import { createWaiters } from "./reconcile/waiters.ts";
import { everything, namingSecret, watchSecrets } from "./watching.ts";

/** All of them. */
export const RESOURCE_KINDS: readonly Kind[] = [
  VIRTUAL_NETWORK,
  NETWORK_ROUTE,
  ACCESS_GROUP,
  ACCESS_APPLICATION,
  R2_BUCKET,
  GATEWAY_RULE,
];

/** The finalizer of each. */
export const RESOURCE_FINALIZERS: readonly (readonly [kind: Kind, finalizer: string])[] = [
  VIRTUAL_NETWORKS,
  NETWORK_ROUTES,
  ACCESS_GROUPS,
  ACCESS_APPLICATIONS,
  R2_BUCKETS,
  GATEWAY_RULES,
].map(({ kind, finalizer }) => [kind as Kind, finalizer]);

type Options = Omit<SimpleOptions, "backoff">;

/** One controller for each kind. */
export function addResources(manager: Manager, options: Options): void {
  add(manager, options, "virtual-networks", VIRTUAL_NETWORKS, (builder) =>
    builder
      // A network can go once its routes are gone.
      .watches(NETWORK_ROUTE, leaving(VIRTUAL_NETWORK), { predicates: [({ type }) => type === "delete"] })
      // One of those that want to be the default is it.
      .watches(VIRTUAL_NETWORK, everything(VIRTUAL_NETWORK), { predicates: [primaryChanged] }),
  );
  add(manager, options, "network-routes", NETWORK_ROUTES, (builder) => {
    const all = everything(NETWORK_ROUTE);
    const moved = { predicates: [identified("tunnelId")] };
    return builder
      .watches(TUNNEL, all, moved)
      .watches(CLUSTER_TUNNEL, all, moved)
      .watches(VIRTUAL_NETWORK, all, { predicates: [identified("virtualNetworkId")] });
  });
  add(manager, options, "access-groups", ACCESS_GROUPS);
  add(manager, options, "access-applications", ACCESS_APPLICATIONS, (builder) =>
    builder
      .watches(ACCESS_GROUP, everything(ACCESS_APPLICATION), { predicates: [identified("groupId")] })
      .watches(VIRTUAL_NETWORK, everything(ACCESS_APPLICATION), {
        predicates: [identified("virtualNetworkId")],
      }),
  );
  add(manager, options, "r2-buckets", R2_BUCKETS);
  add(manager, options, "gateway-rules", GATEWAY_RULES);
}

function add<T extends ResourceObject, W extends Wanted, R extends Remote>(
  manager: Manager,
  options: Options,
  name: string,
  type: ResourceKind<T, W, R>,
  more: (builder: ControllerBuilder) => ControllerBuilder = (builder) => builder,
): void {
  const { kind } = type;
  const waiters = createWaiters();
  // The end of an object concerns those that it stood in the way of.
  const onEvent: EventHandler<T> = (event: CacheEvent<T>, enqueue: (key: ObjectKey) => void) => {
    if (event.type !== "delete") return;
    const { namespace = "", name: gone = "" } = event.object.metadata;
    for (const key of waiters.of(ownerIn(options.clusterId, kind.kind, namespace, gone))) enqueue(key);
  };
  const all = everything(kind);
  const builder = manager
    .controller(`tunnel-${name}`)
    .for(kind, { onEvent })
    .watches(CREDENTIALS, all, { predicates: [primaryChanged] });
  watchSecrets(builder, options.operatorNamespace, all, namingSecret(kind, options.operatorNamespace));
  const reconcile = createResourceReconcile(type, { ...options, waiters, backoff: createBackoff() });
  manager.add(more(builder).complete(reconcile));
}

function leaving(kind: Kind): MapFn {
  return async (_, cache) =>
    (await cache.list(kind)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(keyOf);
}

/** Changes of what others refer to: its spec, its end, and its identifier in the account. */
function identified(field: string): Predicate {
  const idOf = (object: DeepReadonly<KubeObject>): unknown =>
    (object as unknown as { status?: Record<string, unknown> }).status?.[field];
  return (event: CacheEvent) =>
    primaryChanged(event) ||
    (event.type === "update" && idOf(event.old) !== idOf(event.object)) ||
    (event.type === "update" &&
      event.old.metadata.deletionTimestamp !== event.object.metadata.deletionTimestamp);
}
