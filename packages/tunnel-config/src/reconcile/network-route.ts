/** NetworkRoutes (TUN-931 to TUN-933). */
import type { NetworkRoute } from "../api.gen.ts";
import type { Collection } from "../cloudflare/collection.ts";
import { changesOf } from "../desired/changes.ts";
import { canonicalNetwork, networkProblem } from "../desired/cidr.ts";
import { NETWORK_ROUTE, VIRTUAL_NETWORK } from "../kinds.ts";
import { counterpartId, networkId, tunnelKey, tunnelOf } from "./references.ts";
import type { ResourceKind, Scope, Wanted } from "./resource.ts";
import { listNetworks, TEAMNET_COMMENT } from "./virtual-network.ts";

/** A route of an account. */
interface RemoteRoute {
  readonly id: string;
  readonly network: string;
  readonly tunnel_id: string;
  readonly tunnel_name?: string;
  readonly virtual_network_id?: string;
  readonly comment?: string | null;
}

interface WantedRoute extends Wanted {
  readonly fields: Pick<RemoteRoute, "network" | "tunnel_id" | "virtual_network_id">;
}

const all = ({ api, account }: Scope): Collection<RemoteRoute> => api.collection(account, "teamnet/routes");

const SEPARATOR = "@";
const keyOf = (network: string, virtualNetwork: string): string =>
  `${canonicalNetwork(network) ?? network}${SEPARATOR}${virtualNetwork}`;

async function list(scope: Scope, filter: Readonly<Record<string, string>>): Promise<RemoteRoute[]> {
  return all(scope).list({ ...filter, is_deleted: false });
}

export const NETWORK_ROUTES: ResourceKind<NetworkRoute, WantedRoute, RemoteRoute> = {
  kind: NETWORK_ROUTE,
  finalizer: "networkroute.networking.cloudflare-operator.io/finalizer",
  noun: "route",
  states: { ready: "active", error: "error" },
  idField: "routeId",
  comment: { limit: TEAMNET_COMMENT, of: ({ comment }) => comment, text: ({ spec }) => spec.comment },
  cloudflare: ({ spec }) => spec.cloudflare,
  problem: ({ spec }) => networkProblem(spec.network),
  claimKey: ({ spec }) => keyOf(spec.network, JSON.stringify(spec.virtualNetworkRef ?? {})),
  // Objects that other operators have left hold no identifier of their route.
  formerKey: ({ status }) =>
    status?.network ? keyOf(status.network, status.virtualNetworkId ?? "") : undefined,
  async inputs({ spec }, cache) {
    const name = spec.virtualNetworkRef?.name;
    const network = name ? await cache.get(VIRTUAL_NETWORK, { namespace: "", name }) : undefined;
    const tunnel = await tunnelOf(spec.tunnelRef, cache);
    const leaving = tunnel?.metadata.deletionTimestamp !== undefined;
    return [tunnel?.status?.tunnelId ?? "", leaving, network?.status?.virtualNetworkId ?? ""];
  },
  async wanted({ spec }, scope) {
    const { kind, key } = tunnelKey(spec.tunnelRef);
    const tunnel = await counterpartId("spec.tunnelRef", kind, key, "tunnelId", scope);
    const reference = spec.virtualNetworkRef;
    const virtual =
      reference === undefined
        ? await defaultNetwork(scope)
        : await networkId("spec.virtualNetworkRef", reference, scope, (filter) =>
            listNetworks(scope, filter),
          );
    const network = canonicalNetwork(spec.network) ?? spec.network;
    return {
      key: keyOf(network, virtual),
      fields: { network, tunnel_id: tunnel, ...(virtual !== "" && { virtual_network_id: virtual }) },
    };
  },
  get: async (scope, id) => (await list(scope, { route_id: id })).find((one) => one.id === id),
  async find(scope, key) {
    const [network = "", virtual = ""] = key.split(SEPARATOR);
    const found = await list(scope, virtual === "" ? {} : { virtual_network_id: virtual });
    return found.filter(
      (one) =>
        canonicalNetwork(one.network) === network && (virtual === "" || one.virtual_network_id === virtual),
    );
  },
  keyOf: ({ network, virtual_network_id = "" }) => keyOf(network, virtual_network_id),
  create: (scope, { fields }, comment) => all(scope).create({ ...fields, comment }),
  async update(scope, remote, { fields }, comment) {
    const changes = changesOf(remote, { ...fields, comment });
    return changes === undefined ? remote : all(scope).patch(remote.id, changes);
  },
  remove: (scope, { id }) => all(scope).remove(id),
  release: async (scope, { id }, comment) => void (await all(scope).patch(id, { comment })),
  status: ({ network, tunnel_id, tunnel_name = "", virtual_network_id = "" }) => ({
    network,
    tunnelId: tunnel_id,
    tunnelName: tunnel_name,
    virtualNetworkId: virtual_network_id,
  }),
  async notices({ spec }, _, { cache }) {
    const tunnel = await tunnelOf(spec.tunnelRef, cache);
    if (tunnel === undefined || tunnel.spec?.enableWarpRouting === true) return [];
    const message = `the tunnel of the route takes no WARP traffic; set spec.enableWarpRouting of ${spec.tunnelRef.kind} ${spec.tunnelRef.name}`;
    return [{ reason: "WarpRoutingDisabled", message }];
  },
};

/** Identifier of the account's default; empty when it has none. */
async function defaultNetwork(scope: Scope): Promise<string> {
  const found = await listNetworks(scope, {});
  return found.find(({ is_default_network }) => is_default_network === true)?.id ?? "";
}
