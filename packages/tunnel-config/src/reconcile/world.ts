/** What reconciles look up: one reading of the caches, for pure code. */
import type { SourceReader } from "@quartet/core";
import { SERVICE, type Service } from "@quartet/core/kinds";
import type { TunnelIngressClassConfig } from "../api.gen.ts";
import { withoutHeldElsewhere } from "../desired/holders.ts";
import { type ClassWorld, isOurDefaultClass, refOf, refText, type TunnelRef } from "../desired/targets.ts";
import {
  type AnyTunnel,
  type Cached,
  CLUSTER_TUNNEL,
  INGRESS_CLASS,
  INGRESS_CLASS_CONFIG,
  type IngressClass,
  TUNNEL,
} from "../kinds.ts";

export interface World extends ClassWorld {
  /** All tunnels, those being deleted included; without an identifier those that may not have theirs (TUN-224). */
  readonly tunnels: readonly Cached<AnyTunnel>[];
  readonly tunnel: (ref: TunnelRef) => Cached<AnyTunnel> | undefined;
}

/** Reads the tunnels and classes of the cluster. */
export async function readWorld(cache: SourceReader, operatorNamespace: string): Promise<World> {
  const [own, cluster, classes, configs] = await Promise.all([
    cache.list(TUNNEL),
    cache.list(CLUSTER_TUNNEL),
    cache.list(INGRESS_CLASS),
    cache.list(INGRESS_CLASS_CONFIG),
  ]);
  const tunnels = withoutHeldElsewhere([...cluster, ...own], operatorNamespace);
  const byRef = new Map(tunnels.map((tunnel) => [refText(refOf(tunnel)), tunnel]));
  const byName = new Map(
    classes.map((one): [string, Cached<IngressClass>] => [one.metadata.name ?? "", one]),
  );
  const byKey = new Map(
    configs.map((one): [string, Cached<TunnelIngressClassConfig>] => [
      `${one.metadata.namespace}/${one.metadata.name}`,
      one,
    ]),
  );
  return {
    tunnels,
    tunnel: (ref) => byRef.get(refText(ref)),
    ingressClass: (name) => byName.get(name),
    defaultClasses: classes
      .filter(isOurDefaultClass)
      .map(({ metadata }) => metadata.name ?? "")
      .sort(),
    classConfig: (namespace, name) => byKey.get(`${namespace}/${name}`),
    clusterTunnels: cluster.map(({ metadata }) => metadata.name ?? "").sort(),
    operatorNamespace,
  };
}

/** Look-up of Services by namespace and name. */
export type ServiceLookup = (namespace: string, name: string) => Cached<Service> | undefined;

/** A Service that something refers to. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
}

/** Look-up of all Services in one reading of the cache; for who goes through many objects. */
export async function serviceLookup(cache: SourceReader): Promise<ServiceLookup> {
  return lookupOf(await cache.list(SERVICE));
}

/** Look-up of some Services alone; for who looks at one object. */
export async function servicesNamed(
  cache: SourceReader,
  refs: readonly ServiceRef[],
): Promise<ServiceLookup> {
  const found = await Promise.all(refs.map((ref) => cache.get(SERVICE, ref)));
  return lookupOf(found.filter((one) => one !== undefined));
}

function lookupOf(services: readonly Cached<Service>[]): ServiceLookup {
  const all = new Map(services.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
  return (namespace, name) => all.get(`${namespace}/${name}`);
}
