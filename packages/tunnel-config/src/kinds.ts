/** The kinds that this package reads and writes. */
import { type DeepReadonly, defineKind, type Kind, type KubeObject } from "@quartet/core";
import type {
  AccessApplication,
  AccessGroup,
  CloudflareCredentials,
  CloudflareDomain,
  ClusterTunnel,
  DNSRecord,
  GatewayRule,
  NetworkRoute,
  R2Bucket,
  Tunnel,
  TunnelBinding,
  TunnelGatewayClassConfig,
  TunnelIngressClassConfig,
  VirtualNetwork,
} from "./api.gen.ts";
import { GROUP } from "./constants.ts";

/** A Tunnel or a ClusterTunnel. */
export type AnyTunnel = Tunnel | ClusterTunnel;
export type { TunnelBinding };
export type Cached<T extends KubeObject> = DeepReadonly<T>;

export interface IngressBackend {
  service?: { name: string; port?: { number?: number; name?: string } };
  resource?: object;
}

export interface Ingress extends KubeObject {
  spec: {
    ingressClassName?: string;
    defaultBackend?: IngressBackend;
    rules?: {
      host?: string;
      http?: { paths: { path?: string; pathType?: string; backend: IngressBackend }[] };
    }[];
    tls?: { hosts?: string[] }[];
  };
  status?: { loadBalancer?: { ingress?: { hostname?: string; ip?: string }[] } };
}

export interface IngressClass extends KubeObject {
  spec?: {
    controller?: string;
    parameters?: { apiGroup?: string; kind: string; name: string; namespace?: string; scope?: string };
  };
}

function own<T extends KubeObject>(
  kind: string,
  plural: string,
  namespaced: boolean,
  version = "v1alpha2",
): Kind<T> {
  return defineKind<T>({ group: GROUP, version, kind, plural, namespaced });
}

export const TUNNEL: Kind<Tunnel> = own("Tunnel", "tunnels", true);
export const CLUSTER_TUNNEL: Kind<ClusterTunnel> = own("ClusterTunnel", "clustertunnels", false);
export const TUNNEL_BINDING: Kind<TunnelBinding> = own("TunnelBinding", "tunnelbindings", true, "v1alpha1");
export const INGRESS_CLASS_CONFIG: Kind<TunnelIngressClassConfig> = own(
  "TunnelIngressClassConfig",
  "tunnelingressclassconfigs",
  true,
);
export const GATEWAY_CLASS_CONFIG: Kind<TunnelGatewayClassConfig> = own(
  "TunnelGatewayClassConfig",
  "tunnelgatewayclassconfigs",
  true,
);
export const CREDENTIALS: Kind<CloudflareCredentials> = own(
  "CloudflareCredentials",
  "cloudflarecredentials",
  false,
);
export const DOMAIN: Kind<CloudflareDomain> = own("CloudflareDomain", "cloudflaredomains", false);
export const DNS_RECORD: Kind<DNSRecord> = own("DNSRecord", "dnsrecords", true);

export const ACCESS_APPLICATION: Kind<AccessApplication> = own(
  "AccessApplication",
  "accessapplications",
  true,
);
export const ACCESS_GROUP: Kind<AccessGroup> = own("AccessGroup", "accessgroups", false);
export const GATEWAY_RULE: Kind<GatewayRule> = own("GatewayRule", "gatewayrules", false);
export const R2_BUCKET: Kind<R2Bucket> = own("R2Bucket", "r2buckets", true);
export const NETWORK_ROUTE: Kind<NetworkRoute> = own("NetworkRoute", "networkroutes", false);
export const VIRTUAL_NETWORK: Kind<VirtualNetwork> = own("VirtualNetwork", "virtualnetworks", false);

export const INGRESS: Kind<Ingress> = defineKind<Ingress>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
});
export const INGRESS_CLASS: Kind<IngressClass> = defineKind<IngressClass>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
});
