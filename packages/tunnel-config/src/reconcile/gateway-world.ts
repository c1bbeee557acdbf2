/** What is looked up of the Gateway API: one reading of the caches, for pure code. A cluster may be without it. */
import type { Kind, KubeObject, SourceReader } from "@quartet/core";
import { NAMESPACE } from "@quartet/core/kinds";
import { type Attachment, type AttachWorld, attachmentsOf } from "../desired/gateway/attach.ts";
import { type GatewayTarget, type GatewayWorld, gatewayTarget } from "../desired/gateway/classes.ts";
import { isGranted } from "../desired/gateway/grants.ts";
import { type RouteContribution, routeSource } from "../desired/sources/http-route.ts";
import {
  GATEWAY,
  GATEWAY_CLASS,
  GATEWAY_GROUP,
  type Gateway,
  HTTP_ROUTE,
  type HttpRoute,
  REFERENCE_GRANT,
  type ReferenceGrant,
} from "../gateway-kinds.ts";
import { type Cached, GATEWAY_CLASS_CONFIG } from "../kinds.ts";
import { type ServiceRef, serviceLookup, servicesNamed, type World } from "./world.ts";

/** A reference of a route with the tunnel that it leads to. */
export interface PlacedAttachment extends Attachment {
  readonly target: GatewayTarget;
  /** Identifier of the tunnel, as far as it is known. */
  readonly tunnelId: string | undefined;
}

export interface Gateways extends GatewayWorld, AttachWorld {
  /** Whether routes can be seen at all; where not, what is stored of them stays. */
  readonly served: boolean;
  readonly gateways: readonly Cached<Gateway>[];
  /** Routes that are not being deleted. */
  readonly routes: readonly Cached<HttpRoute>[];
  attachments(route: Cached<HttpRoute>): readonly PlacedAttachment[];
  /** What a route contributes by some of its attachments. */
  contribution(route: Cached<HttpRoute>, by: readonly PlacedAttachment[]): RouteContribution;
}

/** Objects of a kind that the cluster may not serve. */
async function listIfServed<T extends KubeObject>(cache: SourceReader, kind: Kind<T>) {
  return cache.source(kind).everSynced ? cache.list(kind) : [];
}

/**
 * Reads the Gateways and routes of the cluster.
 * @param only the one route that is looked at, if it is one; no others are read then
 */
export async function readGateways(
  cache: SourceReader,
  world: World,
  only?: Cached<HttpRoute>,
): Promise<Gateways> {
  const classes = await listIfServed(cache, GATEWAY_CLASS);
  const gateways = await listIfServed(cache, GATEWAY);
  const routes = only === undefined ? await listIfServed(cache, HTTP_ROUTE) : [only];
  const grants = await listIfServed(cache, REFERENCE_GRANT);
  const configs = await cache.list(GATEWAY_CLASS_CONFIG);
  const spaces = await cache.list(NAMESPACE);
  const service =
    only === undefined ? await serviceLookup(cache) : await servicesNamed(cache, backendsOf(only));
  const classOf = new Map(classes.map((one) => [one.metadata.name ?? "", one]));
  const gatewayOf = byKey(gateways.filter(({ metadata }) => metadata.deletionTimestamp === undefined));
  const configOf = byKey(configs);
  const labelsOf = new Map(spaces.map(({ metadata }) => [metadata.name ?? "", metadata.labels ?? {}]));
  const views: Gateways = {
    served: [GATEWAY_CLASS, GATEWAY, HTTP_ROUTE].every((kind) => cache.source(kind as Kind).everSynced),
    gateways,
    routes: routes.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    gatewayClass: (name) => classOf.get(name),
    gatewayConfig: (namespace, name) => configOf.get(`${namespace}/${name}`),
    gateway: (namespace, name) => gatewayOf.get(`${namespace}/${name}`),
    namespaceLabels: (name) => labelsOf.get(name) ?? {},
    attachments: (route) =>
      attachmentsOf(route, views).map((attachment) => {
        const target = gatewayTarget(attachment.gateway, views);
        const tunnel = target.state === "known" ? world.tunnel(target.ref) : undefined;
        return { ...attachment, target, tunnelId: tunnel?.status?.tunnelId || undefined };
      }),
    contribution(route, by) {
      const [first] = by;
      const config = first?.target.state === "known" ? first.target.config : undefined;
      const hosts = [...new Set(by.flatMap((attachment) => attachment.hosts))];
      const granted = grantOf(route, grants);
      return routeSource(route, { hosts, config, service, granted });
    },
  };
  return views;
}

function byKey<T extends Cached<KubeObject>>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
}

/** Whether the route may refer to a Service of another namespace (TUN-528). */
function grantOf({ metadata }: Cached<HttpRoute>, grants: readonly Cached<ReferenceGrant>[]) {
  const route = { group: GATEWAY_GROUP, kind: "HTTPRoute", namespace: metadata.namespace ?? "" };
  return (namespace: string, name: string): boolean =>
    isGranted(grants, route, { group: "", kind: "Service", namespace, name });
}

/** Services that a route refers to. */
export function backendsOf({ metadata, spec }: Cached<HttpRoute>): ServiceRef[] {
  return (spec.rules ?? []).flatMap(({ backendRefs = [] }) =>
    backendRefs.map(({ name, namespace = metadata.namespace ?? "" }) => ({ namespace, name })),
  );
}
