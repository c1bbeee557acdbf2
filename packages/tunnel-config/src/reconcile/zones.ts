/** Which zone a hostname is in, and what its plan allows (TUN-111 to TUN-113). */
import type { Clock, SourceReader } from "@quartet/core";
import type { CloudflareApi, ZoneInfo } from "../cloudflare/api.ts";
import { isInZone, isRelative } from "../desired/dns-record.ts";
import { normaliseHostname } from "../desired/hostname.ts";
import { DOMAIN } from "../kinds.ts";
import type { CloudflareSpec } from "./access.ts";
import { Problem } from "./problem.ts";

/** Time for which what the API said of a zone is believed, in milliseconds. */
const TRUST_MS = 3_600_000;
const MAX_ZONES = 10_000;
/** Time after which a zone that was not found is looked for again, in milliseconds. */
const RETRY_MS = 300_000;
/** Longest comment of a record on the free plan, and on paid ones (TUN-808). */
const COMMENT = { free: 100, paid: 500 } as const;
const PAID = new Set(["pro", "business", "enterprise"]);

export interface Zone {
  readonly id: string;
  readonly name: string;
  /** Longest comment of a record, in characters. */
  readonly commentLimit: number;
}

export interface Zones {
  /** Zone of a host; throws {@link Problem} when there is none. */
  find(
    host: string,
    spec: CloudflareSpec | undefined,
    api: CloudflareApi,
    cache: SourceReader,
  ): Promise<Zone>;
  /** The zone has refused a comment as too long: until it is asked for again it has those of the free plan (TUN-809). */
  shorten(id: string): void;
}

export function createZones(clock: Clock): Zones {
  const known = new Map<string, { readonly zone: Zone; readonly until: number }>();
  const short = new Map<string, number>();
  const look = async (id: string, api: CloudflareApi): Promise<Zone> => {
    const found = known.get(id);
    if (found !== undefined && found.until > clock.monotonic()) return found.zone;
    const zone = zoneOf(await api.zone(id));
    if (known.size >= MAX_ZONES) known.clear();
    known.set(id, { zone, until: clock.monotonic() + TRUST_MS });
    return zone;
  };
  const find: Zones["find"] = async (name, spec, api, cache) => {
    const host = normaliseHostname(name);
    if (spec?.zoneId) return look(spec.zoneId, api);
    const domains = (await cache.list(DOMAIN)).filter(({ status }) => status?.zoneId);
    const named = domains.find((domain) => domain.spec.domain.toLowerCase() === spec?.domain?.toLowerCase());
    if (named?.status?.zoneId) return look(named.status.zoneId, api);
    const longest = domains
      .filter((domain) => isInZone(host, domain.spec.domain.toLowerCase()))
      .sort((a, b) => b.spec.domain.length - a.spec.domain.length)[0];
    if (longest?.status?.zoneId) return look(longest.status.zoneId, api);
    const standard = domains.find((domain) => domain.spec.isDefault === true);
    if (isRelative(host) && standard?.status?.zoneId) return look(standard.status.zoneId, api);
    return search(host, api);
  };
  return {
    async find(name, spec, api, cache) {
      const zone = await find(name, spec, api, cache);
      const host = normaliseHostname(name);
      if (!isRelative(host) && !isInZone(host, zone.name)) throw outside(host, `domain ${zone.name}`);
      const isShort = clock.monotonic() < (short.get(zone.id) ?? 0);
      return isShort ? { ...zone, commentLimit: COMMENT.free } : zone;
    },
    shorten(id) {
      if (short.size >= MAX_ZONES) short.clear();
      short.set(id, clock.monotonic() + TRUST_MS);
    },
  };
}

function outside(host: string, where: string): Problem {
  return new Problem("ZoneNotFound", `${host} does not belong to ${where}`, { retryAfterMs: RETRY_MS });
}

async function search(host: string, api: CloudflareApi): Promise<Zone> {
  const labels = host.replace(/^\*\./, "").split(".");
  for (let first = 0; first <= labels.length - 2; first += 1) {
    const found = await api.zonesNamed(labels.slice(first).join("."));
    if (found.length === 1) return zoneOf(found[0] as ZoneInfo);
  }
  throw outside(host, "domain of any zone in reach of the credentials");
}

function zoneOf({ id, name, plan }: ZoneInfo): Zone {
  const commentLimit = PAID.has(plan?.legacy_id ?? "") ? COMMENT.paid : COMMENT.free;
  return { id, name: name.toLowerCase(), commentLimit };
}
