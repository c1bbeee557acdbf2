/** VirtualNetworks (TUN-930). */
import type { SourceReader } from "@quartet/core";
import type { VirtualNetwork } from "../api.gen.ts";
import type { Collection } from "../cloudflare/collection.ts";
import type { ApiError } from "../cloudflare/errors.ts";
import { changesOf } from "../desired/changes.ts";
import {
  type NetworkFields,
  networkName,
  type RemoteNetwork,
  wantedNetwork,
} from "../desired/virtual-network.ts";
import { type Cached, VIRTUAL_NETWORK } from "../kinds.ts";
import { accountHint } from "./account.ts";
import { isOlder } from "./claims.ts";
import { Problem } from "./problem.ts";
import type { ResourceKind, Scope, Wanted } from "./resource.ts";

/** Longest comment, in characters; assumed (section 15). */
export const TEAMNET_COMMENT = 256;

interface WantedNetwork extends Wanted {
  readonly fields: NetworkFields;
}

const all = ({ api, account }: Scope): Collection<RemoteNetwork> =>
  api.collection(account, "teamnet/virtual_networks");

/** Virtual networks of the account that the filter lets through. The filter is applied here too: a proxy may drop it. */
export async function listNetworks(
  scope: Scope,
  filter: Readonly<Partial<Record<"id" | "name", string>>>,
): Promise<RemoteNetwork[]> {
  const found = await all(scope).list({ ...filter, is_deleted: false });
  return found.filter(
    ({ id, name }) =>
      (filter.id === undefined || id === filter.id) && (filter.name === undefined || name === filter.name),
  );
}

export const VIRTUAL_NETWORKS: ResourceKind<VirtualNetwork, WantedNetwork, RemoteNetwork> = {
  kind: VIRTUAL_NETWORK,
  finalizer: "virtualnetwork.networking.cloudflare-operator.io/finalizer",
  noun: "virtual network",
  states: { ready: "active", error: "error" },
  idField: "virtualNetworkId",
  comment: { limit: TEAMNET_COMMENT, of: ({ comment }) => comment, text: ({ spec }) => spec?.comment },
  cloudflare: ({ spec }) => spec?.cloudflare,
  problem: () => undefined,
  claimKey: networkName,
  inputs: elderDefault,
  async wanted(object, { cache }) {
    const fields = wantedNetwork(object);
    // Of several that want to be the default the oldest is it: they would take it from each other for ever.
    const elder = fields.is_default_network ? await elderDefault(object, cache) : "";
    return {
      key: fields.name,
      fields: { ...fields, is_default_network: fields.is_default_network && elder === "" },
    };
  },
  get: async (scope, id) => (await listNetworks(scope, { id }))[0],
  find: (scope, name) => listNetworks(scope, { name }),
  keyOf: ({ name }) => name,
  create: (scope, { fields }, comment) => all(scope).create({ ...fields, comment }),
  async update(scope, remote, { fields }, comment) {
    const { is_default_network, ...rest } = fields;
    const wanted = { ...rest, comment, ...(is_default_network && { is_default_network }) };
    const changes = changesOf(remote, wanted);
    return changes === undefined ? remote : all(scope).patch(remote.id, changes);
  },
  remove: (scope, { id }) => all(scope).remove(id),
  release: async (scope, { id }, comment) => void (await all(scope).patch(id, { comment })),
  status: ({ is_default_network = false }) => ({ isDefault: is_default_network }),
  explain: inUse,
};

/** Another object of the account that wants to be the default and is older; empty when there is none. */
async function elderDefault(object: Cached<VirtualNetwork>, cache: SourceReader): Promise<string> {
  if (object.spec?.isDefaultNetwork !== true) return "";
  const account = await accountHint(object.spec.cloudflare, cache);
  for (const other of await cache.list(VIRTUAL_NETWORK)) {
    if (other.spec?.isDefaultNetwork !== true || !isOlder(other, object)) continue;
    if ((await accountHint(other.spec.cloudflare, cache)) === account) return other.metadata.name ?? "";
  }
  return "";
}

/** A network that cannot go yet: it has routes, or it is the default. */
function inUse(error: ApiError, deleting: boolean): Problem | undefined {
  if (!deleting || error.class !== "validation") return undefined;
  const remedy = "delete its routes, or make another network the default; it is tried again";
  return new Problem("InUse", `${error.message}; ${remedy}`, { transient: true });
}
