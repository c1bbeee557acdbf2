/**
 * Records of a zone by name. Many look-ups in a short time, as after a start, are answered from one list of the whole zone
 * (TUN-1009); single ones ask for the name alone.
 */
import type { Clock } from "@quartet/core";
import type { CloudflareApi, DnsRecord } from "../cloudflare/api.ts";

/** So many look-ups of a zone within the window make a list worth its pages. */
const MANY = { lookups: 10, windowMs: 30_000 } as const;
/** How long a list is believed, in milliseconds. */
const TRUST_MS = 60_000;

export interface ZoneRecords {
  /** All records of the name. */
  named(api: CloudflareApi, zoneId: string, name: string): Promise<readonly DnsRecord[]>;
  /** The name was written to, or the list proved wrong about it. */
  forget(api: CloudflareApi, zoneId: string, name: string): void;
}

interface Zone {
  /** Times of the look-ups in the window. */
  times: number[];
  list?: Promise<ReadonlyMap<string, readonly DnsRecord[]>>;
  until: number;
  /** Names about which the list is not believed. */
  readonly stale: Set<string>;
}

export function createZoneRecords(clock: Clock): ZoneRecords {
  /** What one credential sees says nothing about another. */
  const zones = new WeakMap<CloudflareApi, Map<string, Zone>>();
  const zoneOf = (api: CloudflareApi, id: string): Zone => {
    const own = zones.get(api) ?? new Map<string, Zone>();
    zones.set(api, own);
    const zone = own.get(id) ?? { times: [], until: 0, stale: new Set() };
    own.set(id, zone);
    return zone;
  };
  const listOf = (api: CloudflareApi, id: string, zone: Zone) => {
    if (zone.list !== undefined && clock.monotonic() < zone.until) return zone.list;
    zone.until = clock.monotonic() + TRUST_MS;
    zone.stale.clear();
    const list = api.records(id, {}).then(byName);
    zone.list = list;
    list.catch(() => {
      if (zone.list === list) delete zone.list;
    });
    return list;
  };
  return {
    async named(api, id, name) {
      const zone = zoneOf(api, id);
      const now = clock.monotonic();
      zone.times = [...zone.times.filter((time) => time > now - MANY.windowMs), now].slice(-MANY.lookups);
      const listed = zone.list !== undefined && now < zone.until;
      if (zone.stale.has(name) || (!listed && zone.times.length < MANY.lookups))
        return api.records(id, { "name.exact": name });
      return (await listOf(api, id, zone)).get(name.toLowerCase()) ?? [];
    },
    forget: (api, id, name) => void zoneOf(api, id).stale.add(name),
  };
}

function byName(records: readonly DnsRecord[]): ReadonlyMap<string, readonly DnsRecord[]> {
  return Map.groupBy(records, ({ name }) => name.toLowerCase());
}
