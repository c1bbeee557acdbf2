/** The peer's text beside a record, as far as it decides whose the record is (TUN-421). */
import { controllerOf } from "@quartet/core";
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import type { CloudflareApi, DnsRecord } from "../cloudflare/api.ts";
import { type Registry, readRegistry, registryName } from "../desired/dns-registry.ts";
import type { Cached } from "../kinds.ts";
import { Problem } from "./problem.ts";

const TARGET = /^(.*)\.cfargotunnel\.com$/;
/** Time after which somebody else's record is looked at again, in milliseconds. */
const CONFLICT_MS = 300_000;

/** A text that is there, and what it says. */
export interface FoundRegistry extends Registry {
  readonly text: DnsRecord;
}

/**
 * The text of a record that a TunnelBinding wants and has not made yet; throws {@link Problem} when it names another
 * tunnel. Others never had one.
 */
export async function findRegistry(
  object: Cached<DnsResource>,
  api: CloudflareApi,
  zoneId: string,
  name: string,
): Promise<FoundRegistry | undefined> {
  const tunnelId = TARGET.exec(object.spec.content ?? "")?.[1];
  if (controllerOf(object)?.kind !== "TunnelBinding" || object.status?.recordId || !tunnelId)
    return undefined;
  const [text] = await api.records(zoneId, { "name.exact": registryName(name), type: "TXT" });
  if (text === undefined) return undefined;
  const registry = readRegistry(text.content ?? "", tunnelId);
  if (typeof registry.whose === "string") return { ...registry, text };
  const { tunnelName, tunnelId: other } = registry.whose;
  throw new Problem("AdoptionConflict", `FQDN already managed by Tunnel Name: ${tunnelName}, Id: ${other}`, {
    retryAfterMs: CONFLICT_MS,
  });
}

/** Whether the text says that a record without a marker is ours. */
export function isRegistered(registry: FoundRegistry | undefined, record: DnsRecord): boolean {
  return registry?.whose === "ours" || (registry !== undefined && registry.recordId === record.id);
}
