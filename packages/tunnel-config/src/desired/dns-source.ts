/** What a DNSRecord points to when it follows another object (TUN-926). */
import { isIP } from "node:net";
import type { Node, Service } from "@quartet/core/kinds";
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import type { Gateway } from "../gateway-kinds.ts";
import type { Cached, Ingress } from "../kinds.ts";
import { normaliseHostname } from "./hostname.ts";

type Spec = Cached<DnsResource>["spec"];
type SourceRef = NonNullable<Spec["sourceRef"]>;
type ServiceAddress = NonNullable<NonNullable<SourceRef["service"]>["addressType"]>;
type NodeAddress = NonNullable<NonNullable<SourceRef["node"]>["addressType"]>;

/** An object that a record follows. */
export interface Source {
  readonly kind: "Service" | "Ingress" | "HTTPRoute" | "Gateway" | "Node";
  /** Empty for a Node. */
  readonly namespace: string;
  readonly name: string;
}

/** Type and content of one record. */
export interface Content {
  readonly type: string;
  readonly content: string;
}

/** The object that a record follows; nothing when it names none or several. */
export function sourceOf({ metadata, spec }: Cached<DnsResource>): Source | undefined {
  const { service, ingress, httpRoute, gateway, node } = spec.sourceRef ?? {};
  const own = metadata.namespace ?? "";
  const refs = { Service: service, Ingress: ingress, HTTPRoute: httpRoute, Gateway: gateway };
  const named: Source[] = Object.entries(refs).flatMap(([kind, ref]) =>
    ref === undefined
      ? []
      : [{ kind: kind as Source["kind"], namespace: ref.namespace ?? own, name: ref.name }],
  );
  if (node !== undefined) named.push({ kind: "Node", namespace: "", name: node.name });
  return named.length === 1 ? named[0] : undefined;
}

export function serviceAddresses({ spec, status }: Cached<Service>, wanted: ServiceAddress): string[] {
  const balancers = status?.loadBalancer?.ingress ?? [];
  const ips = (spec.clusterIPs as readonly string[] | undefined) ?? [spec.clusterIP];
  const byType: Record<ServiceAddress, () => readonly (string | undefined)[]> = {
    LoadBalancerIP: () => balancers.map(({ ip }) => ip),
    LoadBalancerHostname: () => balancers.map(({ hostname }) => hostname),
    ExternalIP: () => spec.externalIPs ?? [],
    ExternalName: () => [spec.externalName],
    ClusterIP: () => ips.filter((ip) => ip !== "None"),
  };
  return present(byType[wanted]());
}

export function ingressAddresses({ status }: Cached<Ingress>): string[] {
  return present((status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname));
}

export function gatewayAddresses({ status }: Cached<Gateway>): string[] {
  return present((status?.addresses ?? []).map(({ value }) => value));
}

export function nodeAddresses({ status }: Cached<Node>, wanted: NodeAddress): string[] {
  return present(
    (status?.addresses ?? []).filter(({ type }) => type === wanted).map(({ address }) => address),
  );
}

function present(addresses: readonly (string | undefined)[]): string[] {
  return [...new Set(addresses.filter((address): address is string => !!address))];
}

/** Records that addresses amount to: of the type that is asked for, and as many as the selection says. */
export function contentsOf(
  addresses: readonly string[],
  { type, addressSelection = "First" }: Spec,
): Content[] {
  const all = [...new Set(addresses)].map((address) => {
    const own = typeOf(address);
    return { type: own, content: own === "CNAME" ? normaliseHostname(address) : address };
  });
  // Other types than those of addresses take the text as it is.
  const fitting = ADDRESSES.has(type ?? "A")
    ? all.filter((one) => type === undefined || one.type === type)
    : addresses.map((content) => ({ type: type ?? "A", content }));
  if (addressSelection === "All") {
    // A name that has a CNAME has nothing beside it.
    const many = fitting.filter((one) => one.type !== "CNAME");
    return many.length > 0 ? many : fitting.slice(0, 1);
  }
  const order = PREFERRED[addressSelection];
  const preferred = order.flatMap((wanted) => fitting.filter((one) => one.type === wanted));
  return [...preferred, ...fitting].slice(0, 1);
}

const PREFERRED = { First: [], PreferIPv4: ["A", "AAAA"], PreferIPv6: ["AAAA", "A"] } as const;
const ADDRESSES = new Set(["A", "AAAA", "CNAME"]);

function typeOf(address: string): "A" | "AAAA" | "CNAME" {
  const version = isIP(address);
  return version === 4 ? "A" : version === 6 ? "AAAA" : "CNAME";
}
