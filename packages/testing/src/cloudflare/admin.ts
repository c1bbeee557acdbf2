/** What tests and people at a terminal can do beside the API: read requests back, inject faults, edit as a dashboard. */
import { setConfiguration } from "./configurations.ts";
import { type CloudflareAnswer, CloudflareRefusal } from "./envelope.ts";
import type { CloudflareFault, Faults } from "./faults.ts";
import type { CloudflareRequest } from "./requests.ts";
import { type CloudflareState, type Fields, timeOf } from "./state.ts";
import { setTunnelStatus } from "./tunnels.ts";

export interface AdminTools {
  readonly state: () => CloudflareState;
  readonly faults: Faults;
  readonly requests: CloudflareRequest[];
  readonly reset: () => void;
  readonly setLatency: (milliseconds: number) => void;
}

/** Status, code and headers of each kind of fault that can be named. */
const KINDS: Readonly<
  Record<string, Pick<CloudflareFault, "status" | "code" | "message" | "headers" | "hang">>
> = {
  rate_limit: { status: 429, code: 971, message: "Please wait and consider throttling your request speed" },
  server_error: { status: 500, code: 10000, message: "Internal server error" },
  timeout: { hang: true },
  conflict: { status: 409, code: 1014, message: "The resource already exists" },
  not_found: { status: 404, code: 1003, message: "Not found" },
  auth: { status: 403, code: 10000, message: "Authentication error" },
};

/** Answer to a call outside the API's own paths. */
export function administer(
  tools: AdminTools,
  method: string,
  path: string,
  query: URLSearchParams,
  body: unknown,
): CloudflareAnswer {
  const fields = (typeof body === "object" && body !== null ? body : {}) as Fields;
  const done = (result: unknown = {}): CloudflareAnswer => ({ status: 200, body: result });
  const [, tunnelId] = /^\/admin\/(?:tunnels|configurations)\/([^/]+)/.exec(path) ?? [];
  switch (`${method} ${tunnelId === undefined ? path : path.replace(tunnelId, ":id")}`) {
    case "GET /health":
      return done({ status: "ok" });
    case "POST /admin/reset":
      tools.reset();
      return done();
    case "GET /admin/requests":
      return done(requestsOf(tools.requests, query));
    case "POST /admin/errors":
      tools.faults.add(faultOf(fields));
      return done();
    case "DELETE /admin/errors":
      tools.faults.clear();
      return done();
    case "POST /admin/latency":
      tools.setLatency(Number(fields.milliseconds ?? 0));
      return done();
    case "POST /admin/tunnels/:id/status":
      setTunnelStatus(tools.state(), storedTunnel(tools, tunnelId), String(fields.status));
      return done();
    case "POST /admin/configurations/:id": {
      const tunnel = storedTunnel(tools, tunnelId);
      setConfiguration(tunnel, (fields.config ?? fields) as Fields, timeOf(tools.state()));
      return done({ version: tunnel.version });
    }
    default:
      throw new CloudflareRefusal(404, 7003, `No such path: ${path}`);
  }
}

function storedTunnel({ state }: AdminTools, id = "") {
  const tunnel = state().tunnels.get(id);
  if (tunnel === undefined) throw new CloudflareRefusal(404, 1003, "Tunnel not found");
  return tunnel;
}

function requestsOf(requests: readonly CloudflareRequest[], query: URLSearchParams) {
  const [prefix, method] = [query.get("prefix") ?? "", query.get("method")];
  const found = requests.filter(
    (request) => request.path.startsWith(prefix) && (method === null || request.method === method),
  );
  return { count: found.length, requests: found };
}

/** A fault as it is described over HTTP. */
function faultOf(fields: Fields): CloudflareFault {
  const kind = KINDS[String(fields.type)];
  if (kind === undefined) {
    throw new CloudflareRefusal(400, 1003, `type must be one of ${Object.keys(KINDS).join(", ")}`);
  }
  const { mode = "always", n, p, retryAfter = 60 } = fields;
  const headers = fields.type === "rate_limit" ? { headers: { "retry-after": String(retryAfter) } } : {};
  return {
    path: new RegExp(String(fields.pathRegex ?? "")),
    ...(fields.method !== undefined && { method: new RegExp(String(fields.method)) }),
    ...(fields.bodyRegex !== undefined && { body: new RegExp(String(fields.bodyRegex)) }),
    ...(mode === "count" && { times: Number(n ?? 1) }),
    ...(mode === "probability" && { probability: Number(p ?? 0.5) }),
    ...kind,
    ...headers,
    ...(fields.status !== undefined && { status: Number(fields.status) }),
    ...(fields.code !== undefined && { code: Number(fields.code) }),
    ...(fields.message !== undefined && { message: String(fields.message) }),
  };
}
