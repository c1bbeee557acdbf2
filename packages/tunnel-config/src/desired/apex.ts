/** Names that a wildcard does not serve, though it looks so: those that it is below of (TUN-481). */
import type { Aggregate, SourceNotice } from "./aggregate.ts";

/** A notice for each wildcard whose apex no rule serves, to the source of its first rule. */
export function openApexes({ config, owners }: Pick<Aggregate, "config" | "owners">): SourceNotice[] {
  const hosts = new Map<string, string>();
  config.ingress.forEach(({ hostname = "" }, index) => {
    const owner = owners[index];
    if (owner !== undefined && !hosts.has(hostname)) hosts.set(hostname, owner);
  });
  // A rule for every host serves all of them, or a path of them at least.
  if (hosts.has("")) return [];
  return [...hosts].flatMap(([hostname, source]) => {
    if (!hostname.startsWith("*.")) return [];
    const apex = hostname.slice(2);
    if (hosts.has(apex) || isBelow(apex, hosts)) return [];
    const message = `no rule serves ${apex}: ${hostname} serves the names below it alone; add a rule for ${apex} if it is meant too`;
    return [{ source, reason: "ApexWithoutRule", message }];
  });
}

/** Whether a wildcard above serves the name. */
function isBelow(name: string, hosts: ReadonlyMap<string, unknown>): boolean {
  for (let at = name.indexOf("."); at >= 0; at = name.indexOf(".", at + 1))
    if (hosts.has(`*${name.slice(at)}`)) return true;
  return false;
}
