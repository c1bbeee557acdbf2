/** Which Gateways a route is attached to, and with which hosts (TUN-521 to TUN-523). */

import type { DeepReadonly } from "@quartet/core";
import {
  GATEWAY_GROUP,
  type Gateway,
  type HttpRoute,
  type Listener,
  type ParentRef,
} from "../../gateway-kinds.ts";
import type { Cached } from "../../kinds.ts";
import { commonHosts } from "./hostnames.ts";
import { fits } from "./selector.ts";

const PROTOCOLS = new Set(["HTTP", "HTTPS", "TLS"]);

/** A reference of a route to a Gateway that is there. */
export interface Attachment {
  readonly ref: DeepReadonly<ParentRef>;
  readonly gateway: Cached<Gateway>;
  /** Names of the listeners that take the route. */
  readonly listeners: readonly string[];
  /** Hosts that are served; the empty one stands for all. */
  readonly hosts: readonly string[];
  /** Why no listener takes it. */
  readonly refusal?: { readonly reason: string; readonly message: string };
}

export interface AttachWorld {
  readonly gateway: (namespace: string, name: string) => Cached<Gateway> | undefined;
  readonly namespaceLabels: (name: string) => Readonly<Record<string, string>>;
}

/** Whether a listener can serve routes at all. */
export function isServed({ protocol, allowedRoutes }: DeepReadonly<Listener>): boolean {
  const kinds = allowedRoutes?.kinds ?? [];
  const takesRoutes =
    kinds.length === 0 ||
    kinds.some(({ group = GATEWAY_GROUP, kind }) => group === GATEWAY_GROUP && kind === "HTTPRoute");
  return PROTOCOLS.has(protocol) && takesRoutes;
}

/** Every reference of a route to a Gateway that exists. */
export function attachmentsOf(route: Cached<HttpRoute>, world: AttachWorld): Attachment[] {
  const own = route.metadata.namespace ?? "";
  return (route.spec.parentRefs ?? []).flatMap((ref) => {
    const { group = GATEWAY_GROUP, kind = "Gateway", namespace = own, name } = ref;
    const gateway =
      group === GATEWAY_GROUP && kind === "Gateway" ? world.gateway(namespace, name) : undefined;
    return gateway === undefined ? [] : [attach(route, ref, gateway, world)];
  });
}

function attach(
  route: Cached<HttpRoute>,
  ref: DeepReadonly<ParentRef>,
  gateway: Cached<Gateway>,
  world: AttachWorld,
): Attachment {
  const named = gateway.spec.listeners.filter(
    ({ name, port }) =>
      (ref.sectionName === undefined || ref.sectionName === name) &&
      (ref.port === undefined || ref.port === port),
  );
  const allowed = named.filter((listener) => isServed(listener) && allows(listener, route, gateway, world));
  const taking = allowed
    .map(({ name, hostname }) => ({ name, hosts: commonHosts(hostname, route.spec.hostnames) }))
    .filter(({ hosts }) => hosts.length > 0);
  const base = {
    ref,
    gateway,
    listeners: taking.map(({ name }) => name),
    hosts: [...new Set(taking.flatMap(({ hosts }) => hosts))],
  };
  if (taking.length > 0) return base;
  const refusal =
    named.length === 0
      ? { reason: "NoMatchingParent", message: "no listener has the name and port of the reference" }
      : allowed.length === 0
        ? {
            reason: "NotAllowedByListeners",
            message:
              "no listener takes HTTPRoutes of this namespace by one of the protocols HTTP, HTTPS and TLS",
          }
        : { reason: "NoMatchingListenerHostname", message: "no host of the route is one of a listener" };
  return { ...base, refusal };
}

function allows(
  { allowedRoutes }: DeepReadonly<Listener>,
  route: Cached<HttpRoute>,
  gateway: Cached<Gateway>,
  world: AttachWorld,
): boolean {
  const { from = "Same", selector } = allowedRoutes?.namespaces ?? {};
  const namespace = route.metadata.namespace ?? "";
  if (from === "All") return true;
  if (from === "Selector") return fits(selector, world.namespaceLabels(namespace));
  return from === "Same" && namespace === gateway.metadata.namespace;
}
