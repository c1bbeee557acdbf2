/** Which changes concern whom; shared by the controllers of the package. */
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
  type Predicate,
  primaryChanged,
  type Reconcile,
} from "@quartet/core";
import { type ConfigObject, LEASE, SECRET } from "@quartet/core/kinds";
import { CONFIG_KEY, CONFIG_TYPE, LABELS } from "./constants.ts";
import { type ConfigDocument, parseDocument } from "./desired/document.ts";
import { type AnyTunnel, CREDENTIALS } from "./kinds.ts";
import { type PeerCheck, peerLease, whenAlone } from "./reconcile/peer.ts";

/** The ConfigMaps of tunnels; those of other namespaces only look like them (TUN-318). */
export function configsIn(operatorNamespace: string): {
  labelSelector: string;
  namespaces: readonly string[];
} {
  return { labelSelector: `${LABELS.type}=${CONFIG_TYPE}`, namespaces: [operatorNamespace] };
}
/** How long the count of a class waits for further objects, in milliseconds: it is for people alone. */
export const COUNT_DEBOUNCE = { ms: 1_000, maxMs: 5_000 } as const;

/** All objects of a kind, for what rarely changes and concerns each of them. */
export function everything(kind: Kind): MapFn {
  return async (_, cache) => (await cache.list(kind)).map(keyOf);
}

/** Labels of a Namespace decide which hosts its objects may claim (TUN-650). */
export const LABELS_OF_NAMESPACES: {
  readonly predicates: readonly Predicate[];
  readonly projection: "metadata";
} = { predicates: [primaryChanged], projection: "metadata" };

/** The objects of a kind in a Namespace. */
export function within(kind: Kind): MapFn {
  return async ({ metadata }, cache) =>
    (await cache.list(kind, { namespace: metadata.name ?? "" })).map(keyOf);
}

/** Changes of a tunnel that others build on: its spec, and its identifier. */
export const tunnelMoved: Predicate = (event: CacheEvent) =>
  primaryChanged(event) ||
  (event.type === "update" && statusOf(event.old)?.tunnelId !== statusOf(event.object)?.tunnelId);

/** Tunnel objects of a kind that have the same tunnel of the account. */
export function sharing(kind: Kind<AnyTunnel>): MapFn<AnyTunnel> {
  return async (other, cache) => {
    const id = statusOf(other)?.tunnelId;
    return id ? (await cache.list(kind)).filter(({ status }) => status?.tunnelId === id).map(keyOf) : [];
  };
}

function statusOf(object: DeepReadonly<KubeObject>): { tunnelId?: string } | undefined {
  return (object as AnyTunnel).status;
}

/** A zone that became known, or another. */
export const zoneFound: Predicate = (event) =>
  event.type !== "update" || domainZone(event.old) !== domainZone(event.object);

function domainZone(object: DeepReadonly<KubeObject>): string | undefined {
  return (object as { status?: { zoneId?: string } }).status?.zoneId;
}

interface SpecWithAccess {
  readonly cloudflare?: { readonly secret?: string };
}

/** Secrets and what else decides who may call the API: a Secret leads to those that it may give access: to all when CloudflareCredentials name it, else to who names it. */
export function watchSecrets<P extends KubeObject>(
  builder: ControllerBuilder<P>,
  operatorNamespace: string,
  all: MapFn,
  others: MapFn = () => [],
): ControllerBuilder<P> {
  const map: MapFn = async (secret, cache) => {
    const { namespace = "", name } = secret.metadata;
    const named = (await cache.list(CREDENTIALS)).some(
      ({ spec: { secretRef } }) =>
        secretRef.name === name && (secretRef.namespace ?? operatorNamespace) === namespace,
    );
    return named ? all(secret, cache) : others(secret, cache);
  };
  return builder
    .watches(SECRET, map, { projection: "metadata" })
    .watches(LEASE, () => [], peerLease(operatorNamespace));
}

/** Adds a controller that stands still while the peer is at work. */
export type AddController = <P extends KubeObject>(
  builder: ControllerBuilder<P>,
  reconcile: Reconcile,
) => void;

/** Adds controllers that call no API, and so do not ask for access, where the peer is waited for. */
export function besidePeer(manager: Manager, operatorNamespace: string, check: PeerCheck): AddController {
  return (builder, reconcile) => {
    const watching = builder.watches(LEASE, () => [], peerLease(operatorNamespace));
    manager.add(watching.complete(whenAlone(check, reconcile)));
  };
}

/** Objects of a kind that name a Secret of their own namespace, or of the operator's, in `spec.cloudflare`. */
export function namingSecret(kind: Kind, operatorNamespace: string): MapFn {
  return async ({ metadata: { namespace = "", name } }, cache) =>
    (await cache.list(kind))
      .filter(({ metadata, ...rest }) => {
        const { spec } = rest as { spec?: SpecWithAccess };
        return spec?.cloudflare?.secret === name && (metadata.namespace ?? operatorNamespace) === namespace;
      })
      .map(keyOf);
}

/**
 * Of a changed ConfigMap leads to the objects of a kind whose fate in it is another one: served or not, contested, refused.
 * When the outcome of the whole changed it leads to all that are in it.
 */
export function toldOf(kind: string): EventHandler<ConfigObject> {
  return (event, enqueue) => {
    const before = fatesOf(kind, event.type === "update" ? event.old : undefined);
    const after = fatesOf(kind, event.type === "delete" ? undefined : event.object);
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      if (before.get(key) === after.get(key)) continue;
      const [, namespace = "", name = ""] = key.split("/");
      enqueue({ namespace, name });
    }
  };
}

function fatesOf(kind: string, object: DeepReadonly<ConfigObject> | undefined): Map<string, string> {
  const fates = new Map<string, string>();
  let document: ConfigDocument;
  try {
    document = parseDocument(object?.data?.[CONFIG_KEY] ?? "{}");
  } catch {
    return fates;
  }
  const { syncStatus = "", sources, conflicts = [], rejected = [] } = document;
  const add = (key: string, fate: string): void => {
    if (key.startsWith(`${kind}/`)) fates.set(key, `${fates.get(key) ?? ""}${fate}\n`);
  };
  for (const key of Object.keys(sources)) add(key, syncStatus);
  for (const { hostname, path, winner, losers } of conflicts)
    for (const loser of losers) add(loser, `${hostname} ${path} ${winner}`);
  for (const { source, hostname, path, reason } of rejected) add(source, `${hostname} ${path} ${reason}`);
  return fates;
}
