/** Reads the object that a DNSRecord follows (TUN-926, TUN-927). */
import {
  type Condition,
  type DeepReadonly,
  findCondition,
  type Kind,
  type KubeObject,
  type SourceReader,
  UnreadableError,
} from "@quartet/core";
import { NODE, type Node, SERVICE } from "@quartet/core/kinds";
import { GROUP } from "../constants.ts";
import {
  type Content,
  contentsOf,
  gatewayAddresses,
  ingressAddresses,
  nodeAddresses,
  type Source,
  serviceAddresses,
  sourceOf,
} from "../desired/dns-source.ts";
import { isGranted } from "../desired/gateway/grants.ts";
import {
  GATEWAY,
  GATEWAY_GROUP,
  HTTP_ROUTE,
  type HttpRoute,
  type ParentRef,
  REFERENCE_GRANT,
} from "../gateway-kinds.ts";
import { type Cached, DNS_RECORD, INGRESS } from "../kinds.ts";
import type { DnsRun } from "./dns-run.ts";
import { Problem } from "./problem.ts";

export interface Followed {
  readonly contents: readonly Content[];
  /** Version of the object. */
  readonly version: string;
}

/** What the source of a record amounts to, or that it is gone; nothing for records with a content of their own. */
export async function follow(run: DnsRun): Promise<Followed | { readonly gone: string } | undefined> {
  const { object } = run;
  const source = sourceOf(object);
  if (source === undefined) return undefined;
  const text = `${source.kind} ${source.namespace === "" ? "" : `${source.namespace}/`}${source.name}`;
  const { namespaces } = run.options;
  if (source.namespace !== "" && namespaces.length > 0 && !namespaces.includes(source.namespace))
    throw new Problem("DependencyError", `${text} is not in a namespace that this manager works in`);
  await assertGranted(run, source, text);
  const found = await read(run, source);
  if (found === undefined) return { gone: text };
  const contents = contentsOf(found.addresses, object.spec);
  if (contents.length === 0) {
    const of = object.spec.type === undefined ? "" : ` for a record of type ${object.spec.type}`;
    throw new Problem("NoAddress", `${text} has no address of the wanted kind${of}`);
  }
  return { contents, version: found.version };
}

/** What an object of another namespace says is for those whom that namespace lets refer to it. */
async function assertGranted({ object, ctx }: DnsRun, source: Source, text: string): Promise<void> {
  const { namespace: own = "" } = object.metadata;
  if (source.namespace === "" || source.namespace === own) return;
  const grants = ctx.cache.source(REFERENCE_GRANT).everSynced ? await ctx.cache.list(REFERENCE_GRANT) : [];
  const record = { group: GROUP, kind: DNS_RECORD.kind, namespace: own };
  if (isGranted(grants, record, { ...source, group: GROUPS[source.kind] })) return;
  const message = `no ReferenceGrant of ${source.namespace} lets a DNSRecord of ${own} refer to ${text}`;
  throw new Problem("RefNotPermitted", message);
}

const GROUPS: Readonly<Record<Source["kind"], string>> = {
  Service: SERVICE.group,
  Ingress: INGRESS.group,
  HTTPRoute: GATEWAY_GROUP,
  Gateway: GATEWAY_GROUP,
  Node: NODE.group,
};

interface Found {
  readonly addresses: readonly string[];
  readonly version: string;
}

async function read({ object, ctx }: DnsRun, source: Source): Promise<Found | undefined> {
  const { cache } = ctx;
  const { service, node } = object.spec.sourceRef ?? {};
  const one = async <T extends KubeObject>(
    kind: Kind<T>,
    addresses: (found: Cached<T>) => readonly string[] | Promise<readonly string[]>,
  ): Promise<Found | undefined> => {
    const found = await cache.get(kind, source);
    if (found === undefined) return undefined;
    return { addresses: await addresses(found), version: found.metadata.resourceVersion ?? "" };
  };
  switch (source.kind) {
    case "Service":
      return one(SERVICE, (found) => serviceAddresses(found, service?.addressType ?? "LoadBalancerIP"));
    case "Ingress":
      return one(INGRESS, ingressAddresses);
    case "Node": {
      const [found] = nodesNamed(cache, source.name);
      if (found === undefined) return undefined;
      const addresses = nodeAddresses(found, node?.addressType ?? "ExternalIP");
      return { addresses, version: found.metadata.resourceVersion ?? "" };
    }
    case "Gateway":
      assertServed(cache.source(GATEWAY).everSynced);
      return one(GATEWAY, gatewayAddresses);
    case "HTTPRoute":
      assertServed(cache.source(GATEWAY).everSynced && cache.source(HTTP_ROUTE).everSynced);
      return one(HTTP_ROUTE, async (route) => {
        const { spec, metadata } = route;
        const parents = (spec.parentRefs ?? []).filter(
          (parent) =>
            (parent.group ?? GATEWAY_GROUP) === GATEWAY_GROUP &&
            (parent.kind ?? "Gateway") === "Gateway" &&
            isOwnOrAccepted(route, parent),
        );
        const gateways = await Promise.all(
          parents.map(({ namespace = metadata.namespace ?? "", name }) =>
            cache.get(GATEWAY, { namespace, name }),
          ),
        );
        return gateways.flatMap((gateway) => (gateway === undefined ? [] : gatewayAddresses(gateway)));
      });
  }
}

/** A Gateway of another namespace is asked when it has taken the route. */
function isOwnOrAccepted({ metadata, status }: Cached<HttpRoute>, parent: DeepReadonly<ParentRef>): boolean {
  const placeOf = ({ namespace = metadata.namespace, name }: DeepReadonly<ParentRef>): string =>
    `${namespace}/${name}`;
  if ((parent.namespace ?? metadata.namespace) === metadata.namespace) return true;
  return (status?.parents ?? []).some(
    ({ parentRef, conditions }) =>
      placeOf(parentRef) === placeOf(parent) &&
      findCondition(conditions as Condition[] | undefined, "Accepted")?.status === "True",
  );
}

function nodesNamed(cache: SourceReader, name: string): readonly Cached<Node>[] {
  try {
    return cache.referred(NODE, name);
  } catch (error) {
    if (error instanceof UnreadableError)
      throw new Problem("DependencyError", error.message, { transient: true });
    throw error;
  }
}

/** What cannot be read is not gone. */
function assertServed(served: boolean): void {
  if (!served) throw new Problem("DependencyError", "the cluster does not serve the Gateway API");
}
