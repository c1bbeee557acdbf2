/** From a call to its handler. */
import { ACCESS_ROUTES } from "./access.ts";
import { ACCOUNT_ROUTES } from "./accounts.ts";
import { type CloudflareCall, noRoute, type Route } from "./call.ts";
import { CONFIGURATION_ROUTES } from "./configurations.ts";
import { DNS_ROUTES } from "./dns.ts";
import { CloudflareRefusal } from "./envelope.ts";
import { GATEWAY_ROUTES } from "./gateway.ts";
import { NETWORK_ROUTES } from "./networks.ts";
import { R2_ROUTES } from "./r2.ts";
import { TUNNEL_ROUTES } from "./tunnels.ts";

const ROUTES: readonly (Route & { readonly segments: readonly string[] })[] = [
  ...ACCOUNT_ROUTES,
  ...TUNNEL_ROUTES,
  ...CONFIGURATION_ROUTES,
  ...DNS_ROUTES,
  ...NETWORK_ROUTES,
  ...ACCESS_ROUTES,
  ...R2_ROUTES,
  ...GATEWAY_ROUTES,
].map((route) => ({ ...route, segments: route.path.split("/") }));

export interface Found {
  readonly route: Route;
  readonly params: CloudflareCall["params"];
}

/** The handler of a call; refuses unknown paths and, on known ones, unknown methods. */
export function findRoute(method: string, path: string): Found {
  const segments = path.split("/");
  const fitting = ROUTES.filter((route) => fits(route.segments, segments));
  const route = fitting.find((other) => other.method === method);
  if (route === undefined) {
    throw fitting.length > 0
      ? new CloudflareRefusal(405, 10405, `Method ${method} not allowed for this URI`)
      : noRoute(path);
  }
  const params = route.segments.flatMap((part, index) =>
    part.startsWith(":") ? [[part.slice(1), decodeURIComponent(segments[index] ?? "")]] : [],
  );
  return { route, params: Object.fromEntries(params) };
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith(":") ? segments[index] !== "" : part === segments[index]))
  );
}
