/** Configurations of tunnels. */
import { IngressError, validateIngress } from "@quartet/tunnel-ingress";
import { type CloudflareCall, fieldsOf, type Route } from "./call.ts";
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";
import { type Fields, type StoredTunnel, timeOf } from "./state.ts";
import { liveTunnel } from "./tunnels.ts";

const PATH = "/accounts/:account/cfd_tunnel/:tunnel/configurations";

export const CONFIGURATION_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: PATH,
    permission: "tunnel:edit",
    handle: (call) => success(outward(liveTunnel(call))),
  },
  { method: "PUT", path: PATH, permission: "tunnel:edit", handle: replace },
];

function replace(call: CloudflareCall): CloudflareAnswer {
  const tunnel = liveTunnel(call);
  const { config } = fieldsOf(call);
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    throw new CloudflareRefusal(400, 1056, "Bad Configuration: config is missing");
  }
  setConfiguration(tunnel, config as Fields, timeOf(call.state));
  return success(outward(tunnel));
}

/** Stores a configuration as a new version; refuses what cloudflared would. */
export function setConfiguration(tunnel: StoredTunnel, config: Fields, time: string): void {
  try {
    validateIngress(config);
  } catch (error) {
    if (!(error instanceof IngressError)) throw error;
    throw new CloudflareRefusal(400, 1056, `Bad Configuration: Validation failed: ${error.message}`);
  }
  tunnel.config = config;
  tunnel.version += 1;
  tunnel.source = "cloudflare";
  tunnel.configuredAt = time;
}

function outward({ account, fields, version, config, source, configuredAt }: StoredTunnel): Fields {
  const created = configuredAt ?? fields.created_at;
  return { account_id: account, tunnel_id: fields.id, version, config, source, created_at: created };
}
