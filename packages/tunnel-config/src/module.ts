/** The controllers as the manager sees them. */
import {
  type ControllerModule,
  type Kind,
  keyOf,
  type Manager,
  type MapFn,
  type ObjectKey,
  primaryChanged,
  type SourceReader,
} from "@quartet/core";
import { CONFIG_MAP, DEPLOYMENT, NAMESPACE, SERVICE } from "@quartet/core/kinds";
import { DEFAULT_BASE_URL } from "./cloudflare/client.ts";
import { createExchange } from "./cloudflare/exchange.ts";
import { createRegistry } from "./cloudflare/registry.ts";
import { clusterIdOf } from "./cluster-id.ts";
import { CONVERT } from "./commands/convert.ts";
import { IMPORT } from "./commands/import.ts";
import { RELEASE } from "./commands/release.ts";
import { configMapName, LABELS, VERSION } from "./constants.ts";
import { CONVERSIONS } from "./conversion/conversions.ts";
import { addGateways, watchGateways } from "./gateways.ts";
import {
  type AnyTunnel,
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
import { createBackoff } from "./reconcile/backoff.ts";
import { createBindingReconcile } from "./reconcile/binding.ts";
import { createClassConfigReconcile, ingressClassConfigs } from "./reconcile/class-config.ts";
import { createConfigNotices } from "./reconcile/config-notices.ts";
import {
  createCredentialsReconcile,
  credentialsNameOf,
  type SimpleOptions,
} from "./reconcile/credentials.ts";
import { createDomainReconcile } from "./reconcile/domain.ts";
import { createDriftWatch } from "./reconcile/drift-watch.ts";
import { createIngressReconcile } from "./reconcile/ingress.ts";
import { apiObserver, createTunnelMetrics, showBudgets } from "./reconcile/metrics.ts";
import { createPace } from "./reconcile/pace.ts";
import { createPeerCheck, whenAlone } from "./reconcile/peer.ts";
import { createSecrets } from "./reconcile/secrets.ts";
import { createSync } from "./reconcile/sync.ts";
import { createTunnelReconcile } from "./reconcile/tunnel.ts";
import { addRecords } from "./records.ts";
import { addResources, RESOURCE_KINDS } from "./resources.ts";
import { FLAGS, RIGHTS } from "./rights.ts";
import {
  type AddController,
  besidePeer,
  COUNT_DEBOUNCE,
  configsIn,
  everything,
  LABELS_OF_NAMESPACES,
  namingSecret,
  sharing,
  toldOf,
  tunnelMoved,
  watchSecrets,
  within,
  zoneFound,
} from "./watching.ts";

const NAME = "tunnel";

/** What tests and embedders can replace. */
export interface TunnelModuleOptions {
  /** Base of the Cloudflare API. Default: `CLOUDFLARE_API_BASE_URL`, else Cloudflare's own. */
  readonly baseUrl?: string;
}

const CRDS = [
  "cloudflarecredentials",
  "cloudflaredomains",
  "clustertunnels",
  "dnsrecords",
  "tunnelbindings",
  "tunnelgatewayclassconfigs",
  "tunnelingressclassconfigs",
  "tunnels",
  ...RESOURCE_KINDS.map(({ plural }) => plural),
];

/** The module with its outside replaced. */
export function createTunnelModule(options: TunnelModuleOptions = {}): ControllerModule {
  return {
    name: NAME,
    aliases: ["tunnel-config"],
    kinds: [
      TUNNEL,
      CLUSTER_TUNNEL,
      TUNNEL_BINDING,
      INGRESS_CLASS_CONFIG,
      GATEWAY_CLASS_CONFIG,
      CREDENTIALS,
      DOMAIN,
      DNS_RECORD,
      ...RESOURCE_KINDS,
    ],
    crds: CRDS.map((plural) => `networking.cloudflare-operator.io_${plural}.yaml`),
    rights: RIGHTS,
    flags: FLAGS,
    conversions: CONVERSIONS,
    commands: [RELEASE],
    offlineCommands: [IMPORT, CONVERT],
    build: (manager, flags) => build(manager, flags, options),
  };
}

/** Cloudflare Tunnels, their configuration and DNS records. */
export const tunnelModule: ControllerModule = createTunnelModule();

type Flags = Parameters<ControllerModule["build"]>[1];

function build(manager: Manager, flags: Flags, { baseUrl }: TunnelModuleOptions): void {
  const { clock } = manager;
  const operatorNamespace = operatorNamespaceOf(flags);
  const apiFor = createRegistry({
    baseUrl: baseUrl ?? process.env.CLOUDFLARE_API_BASE_URL ?? DEFAULT_BASE_URL,
    calls: Number(flags["tunnel-api-budget"]),
    exchange: createExchange(),
    clock,
    version: VERSION,
    observer: apiObserver(manager.metrics),
  });
  showBudgets(manager.metrics, apiFor.remaining);
  const access = {
    operatorNamespace,
    apiFor,
    secrets: createSecrets(manager.client),
    assertAlone: createPeerCheck(manager, operatorNamespace),
  };
  const image = String(flags["tunnel-cloudflared-image"]);
  const simple = { ...access, clock, clusterId: clusterIdOf(flags) };
  addTunnels(manager, { ...simple, image });
  addSync(manager, simple, flags);
  const add = besidePeer(manager, operatorNamespace, access.assertAlone);
  addSources(manager, operatorNamespace, add);
  addGateways(manager, { clock, operatorNamespace, add });
  addRecords(manager, simple, flags["tunnel-overwrite-unmanaged-dns"] === true);
  addResources(manager, simple);
  const credentials = manager.controller("tunnel-credentials").for(CREDENTIALS);
  watchSecrets(credentials, operatorNamespace, everything(CREDENTIALS));
  const named: MapFn = (object) => {
    const name = credentialsNameOf(object);
    return name === undefined ? [] : [{ namespace: "", name }];
  };
  const users = [TUNNEL, CLUSTER_TUNNEL, DNS_RECORD, DOMAIN, ...RESOURCE_KINDS];
  for (const user of users) credentials.watches(user, named, { predicates: [primaryChanged] });
  manager.add(
    credentials.complete(createCredentialsReconcile({ ...simple, users, backoff: createBackoff() })),
  );
  const domains = manager
    .controller("tunnel-domains")
    .for(DOMAIN)
    .watches(CREDENTIALS, everything(DOMAIN), { predicates: [primaryChanged] });
  watchSecrets(domains, operatorNamespace, everything(DOMAIN));
  manager.add(domains.complete(createDomainReconcile({ ...simple, backoff: createBackoff() })));
}

type Simple = Omit<SimpleOptions, "backoff">;

/** Longest time from the first change of a burst to its first transmission, in milliseconds (TUN-613). */
const MAX_GATHERING_MS = 5_000;

function addTunnels(
  manager: Manager,
  options: Omit<Parameters<typeof createTunnelReconcile>[1], "backoff">,
): void {
  for (const kind of [TUNNEL, CLUSTER_TUNNEL] as readonly Kind<AnyTunnel>[]) {
    const ofConfig: MapFn = async ({ metadata }, cache) => {
      const id = metadata.labels?.[LABELS.tunnelId];
      return (await cache.list(kind)).filter(({ status }) => status?.tunnelId === id).map(keyOf);
    };
    const ofOwned: MapFn = ({ metadata }) => {
      const owner = metadata.ownerReferences?.find((one) => one.kind === kind.kind);
      return owner === undefined
        ? []
        : [{ namespace: kind.namespaced ? (metadata.namespace ?? "") : "", name: owner.name }];
    };
    const ofSecret = namingSecret(kind, options.operatorNamespace);
    const others = (kind.namespaced ? CLUSTER_TUNNEL : TUNNEL) as Kind<AnyTunnel>;
    const tunnels = manager
      .controller(kind.namespaced ? "tunnels" : "cluster-tunnels")
      .for(kind)
      .watches(others, sharing(kind), { predicates: [tunnelMoved] })
      .watches(CONFIG_MAP, ofConfig, configsIn(options.operatorNamespace))
      .watches(DEPLOYMENT, ofOwned, { labelSelector: "cloudflare-operator.io/app=cloudflared" })
      .watches(CREDENTIALS, everything(kind), { predicates: [primaryChanged] })
      .watches(DOMAIN, everything(kind), { predicates: [zoneFound] });
    watchSecrets(tunnels, options.operatorNamespace, everything(kind), async (secret, cache) => [
      ...(await ofOwned(secret, cache)),
      ...(await ofSecret(secret, cache)),
    ]);
    manager.add(tunnels.complete(createTunnelReconcile(kind, { ...options, backoff: createBackoff() })));
  }
}

/** Everything that contributes to configurations leads to the keys of all of them: a pass without a change costs nothing. */
function addSync(manager: Manager, simple: Simple, flags: Flags): void {
  const { operatorNamespace } = simple;
  const debounce = { ms: Number(flags["tunnel-sync-debounce"]), maxMs: MAX_GATHERING_MS };
  const drift = createDriftWatch(Number(flags["tunnel-drift-interval"]), manager.clock);
  const keys = async (cache: SourceReader): Promise<ObjectKey[]> => {
    const tunnels = [...(await cache.list(TUNNEL)), ...(await cache.list(CLUSTER_TUNNEL))];
    const ids = tunnels.flatMap(({ status }) => status?.tunnelId ?? []);
    const stored = (await cache.list(CONFIG_MAP)).map(({ metadata }) => metadata.name ?? "");
    const names = new Set([...ids.filter((id) => id !== "").map(configMapName), ...stored]);
    return [...names].map((name) => ({ namespace: operatorNamespace, name }));
  };
  const all: MapFn = async (_, cache) => keys(cache);
  const specs = { predicates: [primaryChanged] };
  const sync = manager
    .controller("tunnel-sync")
    .watches(CONFIG_MAP, all, configsIn(operatorNamespace))
    .watches(TUNNEL, all, { predicates: [tunnelMoved] })
    .watches(CLUSTER_TUNNEL, all, { predicates: [tunnelMoved] })
    .watches(TUNNEL_BINDING, all, { ...specs, debounce })
    .watches(INGRESS, all, { ...specs, debounce })
    .watches(INGRESS_CLASS, all, { debounce })
    .watches(INGRESS_CLASS_CONFIG, all, { ...specs, debounce })
    .watches(SERVICE, all, { debounce })
    .watches(CREDENTIALS, all, specs);
  watchSecrets(sync, operatorNamespace, all, async (secret, cache) => {
    for (const kind of [TUNNEL, CLUSTER_TUNNEL] as readonly Kind[]) {
      const named = await namingSecret(kind, operatorNamespace)(secret, cache);
      if (named.length > 0) return all(secret, cache);
    }
    return [];
  });
  watchGateways(sync, all, { debounce });
  const reconcile = createSync({
    ...simple,
    namespaces: manager.namespaces,
    drift,
    pace: createPace(debounce.ms, manager.clock),
    metrics: createTunnelMetrics(manager.metrics),
    notices: createConfigNotices(),
    backoff: createBackoff(),
  });
  manager.add(sync.complete(whenAlone(simple.assertAlone, reconcile)));
}

function addSources(manager: Manager, operatorNamespace: string, add: AddController): void {
  const { clock } = manager;
  const ofService =
    (kind: Kind): MapFn =>
    async ({ metadata }, cache) =>
      (await cache.list(kind, { namespace: metadata.namespace ?? "" })).map(keyOf);
  add(
    manager
      .controller("tunnel-ingresses")
      .for(INGRESS)
      .owns(DNS_RECORD, { predicates: [primaryChanged] })
      .watches(INGRESS_CLASS, everything(INGRESS))
      .watches(INGRESS_CLASS_CONFIG, everything(INGRESS), { predicates: [primaryChanged] })
      .watches(TUNNEL, everything(INGRESS), { predicates: [tunnelMoved] })
      .watches(CLUSTER_TUNNEL, everything(INGRESS), { predicates: [tunnelMoved] })
      .watches(SERVICE, ofService(INGRESS))
      .watches(NAMESPACE, within(INGRESS), LABELS_OF_NAMESPACES),
    createIngressReconcile({ operatorNamespace }),
  );
  const configs = everything(INGRESS_CLASS_CONFIG);
  const counted = { debounce: COUNT_DEBOUNCE };
  add(
    manager
      .controller("tunnel-ingress-class-configs")
      .for(INGRESS_CLASS_CONFIG)
      .watches(INGRESS, configs, { ...counted, predicates: [primaryChanged] })
      .watches(INGRESS_CLASS, configs, counted)
      .watches(TUNNEL, configs, { predicates: [tunnelMoved] })
      .watches(CLUSTER_TUNNEL, configs, { predicates: [tunnelMoved] }),
    createClassConfigReconcile(ingressClassConfigs({ clock, operatorNamespace })),
  );
  add(
    manager
      .controller("tunnel-bindings")
      .for(TUNNEL_BINDING)
      .owns(DNS_RECORD, { predicates: [primaryChanged] })
      .watches(TUNNEL, everything(TUNNEL_BINDING), { predicates: [tunnelMoved] })
      .watches(CLUSTER_TUNNEL, everything(TUNNEL_BINDING), { predicates: [tunnelMoved] })
      .watches(INGRESS_CLASS, () => [])
      .watches(INGRESS_CLASS_CONFIG, () => [])
      .watches(SERVICE, ofService(TUNNEL_BINDING))
      .watches(NAMESPACE, within(TUNNEL_BINDING), LABELS_OF_NAMESPACES)
      .watches(CONFIG_MAP, () => [], { ...configsIn(operatorNamespace), onEvent: toldOf("TunnelBinding") }),
    createBindingReconcile({ operatorNamespace, clock }),
  );
}
