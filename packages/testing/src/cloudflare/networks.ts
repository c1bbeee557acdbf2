/** Virtual networks and routes of private networks. */
import { randomUUID } from "node:crypto";
import { accountOf, type CloudflareCall, fieldsOf, flagOf, type Route, textField } from "./call.ts";
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";
import { LARGE_PAGES, pageOf } from "./pages.ts";
import { type Fields, outward, timeOf } from "./state.ts";

const NETWORKS = "/accounts/:account/teamnet/virtual_networks";
const ROUTES = "/accounts/:account/teamnet/routes";
const BY_NETWORK = `${ROUTES}/network/:network`;

const route = (method: string, path: string, handle: Route["handle"]): Route => ({
  method,
  path,
  permission: "tunnel:edit",
  handle,
});

export const NETWORK_ROUTES: readonly Route[] = [
  route("POST", NETWORKS, createNetwork),
  route("GET", NETWORKS, (call) => success(filtered(call, "networks", ["id", "name"]).map(outward))),
  route("PATCH", `${NETWORKS}/:id`, updateNetwork),
  route("DELETE", `${NETWORKS}/:id`, removeNetwork),
  route("POST", ROUTES, (call) => addRoute(call, fieldsOf(call))),
  route("GET", ROUTES, listRoutes),
  route("PATCH", `${ROUTES}/:id`, (call) => updateRoute(call, oneOf(call, "routes"))),
  route("DELETE", `${ROUTES}/:id`, (call) => removeRoute(call, oneOf(call, "routes"))),
  route("POST", BY_NETWORK, (call) =>
    addRoute(call, {
      virtual_network_id: networkOfQuery(call),
      ...fieldsOf(call),
      network: call.params.network,
    }),
  ),
  route("PATCH", BY_NETWORK, (call) => updateRoute(call, routeByNetwork(call))),
  route("DELETE", BY_NETWORK, (call) => removeRoute(call, routeByNetwork(call))),
];

function live(call: CloudflareCall, list: "networks" | "routes"): Fields[] {
  const account = accountOf(call);
  return [...call.state.lists[list].values()].filter(
    (one) => one.account === account && one.deleted_at === null,
  );
}

function oneOf(call: CloudflareCall, list: "networks" | "routes"): Fields {
  const found = live(call, list).find(({ id }) => id === call.params.id);
  if (found === undefined)
    throw new CloudflareRefusal(404, 1004, `${list === "routes" ? "Route" : "Virtual network"} not found`);
  return found;
}

function filtered(call: CloudflareCall, list: "networks" | "routes", keys: readonly string[]): Fields[] {
  const account = accountOf(call);
  const deleted = flagOf(call.query, "is_deleted");
  return [...call.state.lists[list].values()].filter((one) => {
    if (one.account !== account) return false;
    if (deleted !== undefined && deleted !== (one.deleted_at !== null)) return false;
    const standard = flagOf(call.query, "is_default_network") ?? flagOf(call.query, "is_default");
    if (standard !== undefined && one.is_default_network !== standard) return false;
    return keys.every((key) => call.query.get(key) === null || String(one[key]) === call.query.get(key));
  });
}

function isDefault(fields: Fields): boolean | undefined {
  const value = fields.is_default_network ?? fields.is_default;
  return typeof value === "boolean" ? value : undefined;
}

function createNetwork(call: CloudflareCall): CloudflareAnswer {
  const fields = fieldsOf(call);
  const name = textField(fields, "name", true);
  checkNetworkName(call, name, undefined);
  if (isDefault(fields)) for (const other of live(call, "networks")) other.is_default_network = false;
  const id = randomUUID();
  const created = { created_at: timeOf(call.state), deleted_at: null, account: accountOf(call) };
  const comment = textField(fields, "comment") ?? "";
  const network = { id, name, comment, is_default_network: isDefault(fields) ?? false, ...created };
  call.state.lists.networks.set(id, network);
  return success(outward(network));
}

function checkNetworkName(call: CloudflareCall, name: unknown, own: unknown): void {
  if (live(call, "networks").some((other) => other.name === name && other.id !== own)) {
    throw new CloudflareRefusal(409, 1014, "You already have a virtual network with this name.");
  }
}

function updateNetwork(call: CloudflareCall): CloudflareAnswer {
  const network = oneOf(call, "networks");
  const fields = fieldsOf(call);
  const name = textField(fields, "name");
  if (name !== undefined) checkNetworkName(call, name, network.id);
  if (isDefault(fields)) for (const other of live(call, "networks")) other.is_default_network = false;
  const standard = isDefault(fields);
  const comment = textField(fields, "comment");
  if (name !== undefined) network.name = name;
  if (comment !== undefined) network.comment = comment;
  if (standard !== undefined) network.is_default_network = standard;
  return success(outward(network));
}

function removeNetwork(call: CloudflareCall): CloudflareAnswer {
  const network = oneOf(call, "networks");
  if (network.is_default_network === true) {
    throw new CloudflareRefusal(400, 1015, "Cannot delete the default virtual network");
  }
  if (live(call, "routes").some(({ virtual_network_id }) => virtual_network_id === network.id)) {
    throw new CloudflareRefusal(400, 1015, "Cannot delete a virtual network that has routes");
  }
  network.deleted_at = timeOf(call.state);
  return success(outward(network));
}

function defaultNetwork(call: CloudflareCall): Fields {
  const found = live(call, "networks").find(({ is_default_network }) => is_default_network === true);
  if (found === undefined)
    throw new CloudflareRefusal(400, 1016, "The account has no default virtual network");
  return found;
}

function networkNamed(call: CloudflareCall, id: unknown): Fields {
  if (id === undefined || id === null || id === "") return defaultNetwork(call);
  const found = live(call, "networks").find((other) => other.id === id);
  if (found === undefined) throw new CloudflareRefusal(404, 1004, "Virtual network not found");
  return found;
}

function networkOfQuery(call: CloudflareCall): string | undefined {
  return call.query.get("virtual_network_id") ?? undefined;
}

function routeByNetwork(call: CloudflareCall): Fields {
  const wanted = networkOfQuery(call);
  const id = wanted ?? defaultNetwork(call).id;
  const found = live(call, "routes").find(
    (one) => one.network === call.params.network && one.virtual_network_id === id,
  );
  if (found === undefined) throw new CloudflareRefusal(404, 1004, "Route not found");
  return found;
}

function tunnelNamed(call: CloudflareCall, id: unknown): Fields {
  const tunnel = call.state.tunnels.get(String(id ?? ""));
  if (tunnel === undefined || tunnel.fields.deleted_at !== null || tunnel.account !== accountOf(call)) {
    throw new CloudflareRefusal(404, 1003, "Tunnel not found");
  }
  return tunnel.fields;
}

function checkRoute(call: CloudflareCall, network: unknown, virtualNetwork: unknown, own: unknown): void {
  const same = live(call, "routes").some(
    (one) => one.network === network && one.virtual_network_id === virtualNetwork && one.id !== own,
  );
  if (same)
    throw new CloudflareRefusal(409, 1014, "You already have a route defined for this exact IP subnet");
}

function addRoute(call: CloudflareCall, fields: Fields): CloudflareAnswer {
  const network = textField(fields, "network", true) as string;
  if (!/^[0-9a-fA-F.:]+\/\d{1,3}$/.test(network))
    throw new CloudflareRefusal(400, 1003, `Invalid network ${network}`);
  const tunnel = tunnelNamed(call, fields.tunnel_id);
  const virtual = networkNamed(call, fields.virtual_network_id);
  checkRoute(call, network, virtual.id, undefined);
  const id = randomUUID();
  const created = { created_at: timeOf(call.state), deleted_at: null, account: accountOf(call) };
  const stored = {
    id,
    network,
    ...tunnelFields(tunnel),
    ...virtualFields(virtual),
    comment: textField(fields, "comment") ?? "",
    ...created,
  };
  call.state.lists.routes.set(id, stored);
  return success(outward(stored));
}

function tunnelFields(tunnel: Fields): Fields {
  return { tunnel_id: tunnel.id, tunnel_name: tunnel.name, tun_type: "cfd_tunnel" };
}

function virtualFields(virtual: Fields): Fields {
  return { virtual_network_id: virtual.id, virtual_network_name: virtual.name };
}

function listRoutes(call: CloudflareCall): CloudflareAnswer {
  const { query } = call;
  const keys = ["comment", "tunnel_id", "virtual_network_id"];
  const id = query.get("route_id");
  const exact = query.get("network_subset") ?? query.get("network_superset");
  const found = filtered(call, "routes", keys).filter(
    (one) => (id === null || one.id === id) && (exact === null || one.network === exact),
  );
  return pageOf(found.map(outward), query, LARGE_PAGES);
}

function updateRoute(call: CloudflareCall, found: Fields): CloudflareAnswer {
  const fields = fieldsOf(call);
  const network = textField(fields, "network") ?? found.network;
  const changes: Fields = { network };
  if (fields.tunnel_id !== undefined)
    Object.assign(changes, tunnelFields(tunnelNamed(call, fields.tunnel_id)));
  if (fields.virtual_network_id !== undefined) {
    Object.assign(changes, virtualFields(networkNamed(call, fields.virtual_network_id)));
  }
  const comment = textField(fields, "comment");
  if (comment !== undefined) changes.comment = comment;
  checkRoute(call, network, changes.virtual_network_id ?? found.virtual_network_id, found.id);
  return success(outward(Object.assign(found, changes)));
}

function removeRoute(call: CloudflareCall, found: Fields): CloudflareAnswer {
  found.deleted_at = timeOf(call.state);
  return success(outward(found));
}
