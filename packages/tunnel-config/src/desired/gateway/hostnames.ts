/** Which hosts of a route a listener takes (TUN-523). */
import { normaliseHostname } from "../hostname.ts";

/**
 * Hosts that both name; a wildcard covers everything below it. Empty for none in common; the empty host, which stands
 * for all, when neither names any.
 */
export function commonHosts(listener: string | undefined, route: readonly string[] | undefined): string[] {
  const own = normaliseHostname(listener ?? "");
  const hosts = (route ?? []).map(normaliseHostname);
  if (hosts.length === 0) return [own];
  const common = hosts.flatMap((host) => commonHost(own, host) ?? []);
  return [...new Set(common)];
}

function commonHost(listener: string, host: string): string | undefined {
  if (listener === "" || covers(listener, host)) return host;
  return host === "" || covers(host, listener) ? listener : undefined;
}

/** Whether a host is another, or a wildcard above it. */
function covers(host: string, other: string): boolean {
  if (host === other) return true;
  return host.startsWith("*.") && other.endsWith(host.slice(1)) && other.length > host.length - 1;
}
