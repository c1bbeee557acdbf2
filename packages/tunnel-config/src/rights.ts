/** What the controllers read and write, and their flags. */
import {
  allow,
  type FlagValues,
  type ModuleFlag,
  manages,
  type Right,
  reads,
  reconciles,
} from "@quartet/core";
import {
  CONFIG_MAP,
  DEPLOYMENT,
  EVENT,
  LEASE,
  NAMESPACE,
  NODE,
  POD,
  SECRET,
  SERVICE,
} from "@quartet/core/kinds";
import { DEFAULT_IMAGE } from "./constants.ts";
import { GATEWAY, GATEWAY_CLASS, HTTP_ROUTE, REFERENCE_GRANT } from "./gateway-kinds.ts";
import {
  CLUSTER_TUNNEL,
  CREDENTIALS,
  DNS_RECORD,
  DOMAIN,
  GATEWAY_CLASS_CONFIG,
  INGRESS,
  INGRESS_CLASS,
  INGRESS_CLASS_CONFIG,
  TUNNEL,
  TUNNEL_BINDING,
} from "./kinds.ts";
import { operatorNamespaceOf } from "./operator-namespace.ts";
import { PEER_LEASE } from "./reconcile/peer.ts";
import { RESOURCE_KINDS } from "./resources.ts";

/** What ClusterTunnels make stands in the namespace of the operator. */
const elsewhere = (flags: FlagValues): readonly string[] => [operatorNamespaceOf(flags)];

export const RIGHTS: readonly Right[] = [
  // Finalizers and annotations of the peer are taken off by patches.
  ...[TUNNEL, CLUSTER_TUNNEL, TUNNEL_BINDING, INGRESS].flatMap((kind) => [
    ...reconciles(kind),
    allow(kind, ["patch"]),
  ]),
  ...[CREDENTIALS, DOMAIN].flatMap((kind) => reconciles(kind)),
  ...RESOURCE_KINDS.flatMap((kind) => [...reconciles(kind), allow(kind, ["patch"])]),
  allow(CREDENTIALS, ["patch"]),
  ...reconciles(DNS_RECORD),
  manages(DNS_RECORD),
  ...reconciles(INGRESS_CLASS_CONFIG),
  reads(INGRESS_CLASS),
  reads(NAMESPACE),
  // A cluster may be without the Gateway API.
  ...reconciles(GATEWAY_CLASS_CONFIG),
  ...reconciles(GATEWAY_CLASS),
  ...reconciles(GATEWAY),
  allow(GATEWAY, ["patch"]),
  ...reconciles(HTTP_ROUTE),
  reads(REFERENCE_GRANT),
  reads(SERVICE),
  // Records may follow the address of a Node.
  reads(NODE, { optional: "DNSRecords that follow a Node say that it cannot be read" }),
  manages(CONFIG_MAP),
  reads(LEASE, { names: [PEER_LEASE] }),
  allow(SECRET, ["get", "list", "watch", "create", "patch"], { elsewhere }),
  manages(DEPLOYMENT, { elsewhere }),
  allow(POD, ["list"]),
  allow(EVENT, ["create", "patch"], {
    place: { namespace: "default" },
    optional: "events about objects without a namespace stand in the log alone",
  }),
];

export const FLAGS: readonly ModuleFlag[] = [
  {
    name: "tunnel-operator-namespace",
    type: "namespace",
    default: "",
    help: "namespace of configurations, of credentials and of what ClusterTunnels make; default: POD_NAMESPACE, else cloudflare-operator-system",
  },
  {
    name: "tunnel-cloudflared-image",
    type: "string",
    default: DEFAULT_IMAGE,
    help: "image of cloudflared",
  },
  {
    name: "tunnel-cluster-id",
    type: "string",
    default: "",
    help: "tells clusters apart that share an account: up to 20 lower-case letters, digits and -, written into the ownership markers of records, virtual networks, routes and rules; empty = none",
  },
  {
    name: "tunnel-overwrite-unmanaged-dns",
    type: "boolean",
    default: "false",
    help: "DNSRecords take over records of their name that nobody manages, as the annotation cloudflare-operator.io/adopt lets one do",
  },
  {
    name: "tunnel-sync-debounce",
    type: "duration",
    default: "500ms",
    help: "time without changes after which a configuration is transmitted; 5 s after the first change at the latest, and farther apart while changes go on",
  },
  {
    name: "tunnel-drift-interval",
    type: "duration",
    default: "10m",
    help: "time between comparisons with the configuration in the account; 0 = never",
  },
  {
    name: "tunnel-api-budget",
    type: "number",
    default: "1000",
    help: "calls of the Cloudflare API in five minutes for each credential; Cloudflare itself allows 1200; 0 = no limit",
  },
];
