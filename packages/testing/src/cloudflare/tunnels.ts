/** Tunnels, their connections and tokens. */
import { randomUUID } from "node:crypto";
import { accountOf, type CloudflareCall, fieldsOf, flagOf, type Route, textField } from "./call.ts";
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";
import { LARGE_PAGES, pageOf } from "./pages.ts";
import { type CloudflareState, type Fields, type StoredTunnel, timeOf } from "./state.ts";

const ALL = "/accounts/:account/cfd_tunnel";
const ONE = `${ALL}/:tunnel`;
/** Shortest secret of a tunnel, in bytes. */
const SECRET_BYTES = 32;

const route = (method: string, path: string, handle: Route["handle"]): Route => ({
  method,
  path,
  permission: "tunnel:edit",
  handle,
});

export const TUNNEL_ROUTES: readonly Route[] = [
  route("POST", ALL, create),
  route("GET", ALL, list),
  route("GET", ONE, (call) => success(outwardTunnel(tunnelOf(call)))),
  route("PATCH", ONE, update),
  route("DELETE", ONE, remove),
  route("GET", `${ONE}/connections`, (call) => success(connectors(tunnelOf(call)))),
  route("DELETE", `${ONE}/connections`, (call) => {
    setTunnelStatus(call.state, tunnelOf(call), "down");
    return success(null);
  }),
  route("GET", `${ONE}/token`, (call) => success(tunnelToken(liveTunnel(call)))),
];

/** The tunnel of the path, deleted or not. */
export function tunnelOf(call: CloudflareCall): StoredTunnel {
  const account = accountOf(call);
  const tunnel = call.state.tunnels.get(call.params.tunnel ?? "");
  if (tunnel === undefined || tunnel.account !== account) throw notFound();
  return tunnel;
}

/** The tunnel of the path; one that is deleted counts as none. */
export function liveTunnel(call: CloudflareCall): StoredTunnel {
  const tunnel = tunnelOf(call);
  if (tunnel.fields.deleted_at !== null) throw notFound();
  return tunnel;
}

function notFound(): CloudflareRefusal {
  return new CloudflareRefusal(404, 1003, "Tunnel not found");
}

/** What a connector connects with. */
export function tunnelToken({ account, fields, secret }: StoredTunnel): string {
  return Buffer.from(JSON.stringify({ a: account, t: fields.id, s: secret })).toString("base64");
}

/** Gives a tunnel as many connectors as the status means: healthy one with four connections, degraded one with one. */
export function setTunnelStatus(state: CloudflareState, tunnel: StoredTunnel, status: string): void {
  const count = status === "healthy" ? 4 : status === "degraded" ? 1 : 0;
  const time = timeOf(state);
  tunnel.connections = Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    colo_name: `ams0${index + 1}`,
    client_version: "2026.8.2",
    opened_at: time,
    is_pending_reconnect: false,
  }));
  tunnel.fields.status = status;
  Object.assign(tunnel.fields, count > 0 ? { conns_active_at: time } : { conns_inactive_at: time });
}

function create(call: CloudflareCall): CloudflareAnswer {
  const { state } = call;
  const account = accountOf(call);
  const fields = fieldsOf(call);
  const name = textField(fields, "name", true) as string;
  const source = textField(fields, "config_src") ?? "local";
  if (source !== "local" && source !== "cloudflare") {
    throw new CloudflareRefusal(400, 1002, "config_src must be local or cloudflare");
  }
  const secret = checkSecret(textField(fields, "tunnel_secret"));
  checkName(state, account, name);
  const id = randomUUID();
  const stored: StoredTunnel = {
    account,
    secret,
    connections: [],
    version: 0,
    config: null,
    source,
    configuredAt: null,
    fields: {
      id,
      account_tag: account,
      created_at: timeOf(state),
      deleted_at: null,
      name,
      conns_active_at: null,
      conns_inactive_at: timeOf(state),
      tun_type: "cfd_tunnel",
      metadata: {},
      status: "inactive",
      remote_config: source === "cloudflare",
      config_src: source,
    },
  };
  state.tunnels.set(id, stored);
  return success({
    ...outwardTunnel(stored),
    credentials_file: credentials(stored),
    token: tunnelToken(stored),
  });
}

function credentials({ account, fields, secret }: StoredTunnel): Fields {
  return { AccountTag: account, TunnelID: fields.id, TunnelName: fields.name, TunnelSecret: secret };
}

function checkSecret(text: string | undefined): string {
  if (text === undefined) return Buffer.from(randomUUID() + randomUUID()).toString("base64");
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") === text && bytes.length >= SECRET_BYTES) return text;
  throw new CloudflareRefusal(400, 1002, `tunnel_secret must be base64 of at least ${SECRET_BYTES} bytes`);
}

function checkName(state: CloudflareState, account: string, name: string): void {
  const taken = [...state.tunnels.values()].some(
    (other) => other.account === account && other.fields.name === name && other.fields.deleted_at === null,
  );
  if (taken) throw new CloudflareRefusal(409, 1013, "You already have a tunnel with this name.");
}

function list(call: CloudflareCall): CloudflareAnswer {
  const { state, query } = call;
  const account = accountOf(call);
  const deleted = flagOf(query, "is_deleted");
  const [name, uuid, status] = [query.get("name"), query.get("uuid"), query.get("status")];
  const [include, exclude, existed] = ["include_prefix", "exclude_prefix", "existed_at"].map((key) =>
    query.get(key),
  );
  const found = [...state.tunnels.values()].filter(({ account: owner, fields }) => {
    if (owner !== account || (name !== null && fields.name !== name)) return false;
    if (deleted !== undefined && deleted !== (fields.deleted_at !== null)) return false;
    if (uuid !== null && fields.id !== uuid) return false;
    if (status !== null && fields.status !== status) return false;
    if (include && !fields.name.startsWith(include)) return false;
    if (exclude && fields.name.startsWith(exclude)) return false;
    return !existed || (String(fields.created_at) <= existed && (fields.deleted_at ?? existed) >= existed);
  });
  return pageOf(found.map(outwardTunnel), query, LARGE_PAGES);
}

function update(call: CloudflareCall): CloudflareAnswer {
  const tunnel = liveTunnel(call);
  const fields = fieldsOf(call);
  const name = textField(fields, "name");
  const secret = textField(fields, "tunnel_secret");
  if (name !== undefined && name !== tunnel.fields.name) {
    checkName(call.state, tunnel.account, name);
    tunnel.fields.name = name;
  }
  if (secret !== undefined) tunnel.secret = checkSecret(secret);
  return success(outwardTunnel(tunnel));
}

function remove(call: CloudflareCall): CloudflareAnswer {
  const { state, query } = call;
  const tunnel = liveTunnel(call);
  const { id } = tunnel.fields;
  const cascade = flagOf(query, "cascade") === true;
  if (tunnel.connections.length > 0 && !cascade) {
    throw new CloudflareRefusal(400, 1022, "Cannot delete tunnel because it has active connections");
  }
  const routes = [...state.lists.routes.values()].filter(
    (other) => other.tunnel_id === id && other.deleted_at === null,
  );
  if (routes.length > 0 && !cascade) {
    throw new CloudflareRefusal(400, 1023, "Cannot delete tunnel because it has routes; delete them first");
  }
  for (const other of routes) other.deleted_at = timeOf(state);
  setTunnelStatus(state, tunnel, "down");
  tunnel.fields.deleted_at = timeOf(state);
  return success(outwardTunnel(tunnel));
}

function connectors({ fields, connections, version, connectorVersion }: StoredTunnel): Fields[] {
  if (connections.length === 0) return [];
  const connector = {
    id: fields.id,
    version: "2026.8.2",
    arch: "linux_amd64",
    run_at: fields.conns_active_at,
  };
  return [{ ...connector, conns: connections, config_version: connectorVersion ?? version }];
}

function outwardTunnel({ fields, connections, source }: StoredTunnel): Fields {
  return { ...fields, config_src: source, remote_config: source === "cloudflare", connections };
}
