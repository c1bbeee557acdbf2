/** A DNSRecord as the API takes it, and how remote records relate to it (section 9.3). */
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import type { DnsRecord } from "../cloudflare/api.ts";
import type { Cached } from "../kinds.ts";
import { isMap, sorted } from "./document.ts";
import { normaliseHostname } from "./hostname.ts";
import { snakeCased } from "./snake-case.ts";

export type RecordFields = Omit<DnsRecord, "id" | "comment">;

const ADDRESSES = new Set(["A", "AAAA", "CNAME"]);
const WITH_PRIORITY = new Set(["MX", "SRV", "URI"]);
/** Shortest time to live beside 1 (automatic), and the longest, in seconds. */
const TTL = { least: 60, most: 86_400 } as const;

/** Why the record cannot be made, or nothing. */
export function specProblem({ spec }: Cached<DnsResource>): string | undefined {
  const { type, content, sourceRef, data, ttl = 1 } = spec;
  const filled = [content !== undefined, sourceRef !== undefined].filter(Boolean).length;
  if (filled > 1) return "spec.content and spec.sourceRef are mutually exclusive; remove one";
  if (sourceRef === undefined && content === undefined && data === undefined)
    return "spec.content is missing";
  if (sourceRef === undefined && type === undefined)
    return "spec.type is missing; it is needed with spec.content";
  if (sourceRef !== undefined && Object.values(sourceRef).filter((ref) => ref !== undefined).length !== 1)
    return "spec.sourceRef: exactly one of service, ingress, httpRoute, gateway and node is needed";
  if (ttl !== 1 && (ttl < TTL.least || ttl > TTL.most))
    return `spec.ttl: 1 (automatic) or ${TTL.least} to ${TTL.most}`;
  if (spec.proxied === true && type !== undefined && !ADDRESSES.has(type))
    return `spec.proxied: records of type ${type} cannot be proxied`;
  return undefined;
}

/** Whether a name can only be meant within a zone: it has one label, or its last one is that of a service (TUN-922). */
export function isRelative(host: string): boolean {
  return !host.includes(".") || /\._[^.]*$/.test(host);
}

/** Whole name of a record in a zone. */
export function fullName(name: string, zone: string): string {
  // Alone a wildcard is one of the zone; as a host of rules it would be every host.
  const bare = name === "*" ? name : normaliseHostname(name);
  if (bare === "" || bare === "@") return zone;
  return bare === zone || bare.endsWith(`.${zone}`) ? bare : `${bare}.${zone}`;
}

/** Whether a host lies in a zone (TUN-112). */
export function isInZone(host: string, zone: string): boolean {
  return host === zone || host.endsWith(`.${zone}`);
}

/** The wanted record; its type and content are those of the spec unless others are given. */
export function wantedRecord(
  { spec }: Cached<DnsResource>,
  name: string,
  {
    type = "A",
    content,
  }: { readonly type?: string | undefined; readonly content?: string | undefined } = spec,
): RecordFields {
  const { data, ttl = 1, proxied = false, priority, tags } = spec;
  return {
    name,
    type,
    ...(content !== undefined && { content: type === "CNAME" ? normaliseHostname(content) : content }),
    ttl: proxied ? 1 : ttl,
    ...(ADDRESSES.has(type) && { proxied }),
    ...(WITH_PRIORITY.has(type) && priority !== undefined && { priority }),
    ...(data !== undefined && { data: snakeCased(data) }),
    ...(tags !== undefined && { tags: [...tags] }),
  } as RecordFields;
}

/** Records that cannot stand beside the wanted one (TUN-923). */
export function rivals(remote: readonly DnsRecord[], wanted: RecordFields): DnsRecord[] {
  return remote.filter((record) => {
    if (record.name.toLowerCase() !== wanted.name) return false;
    if (!ADDRESSES.has(wanted.type)) return record.type === wanted.type && saysSame(record, wanted);
    if (wanted.type === "CNAME") return ADDRESSES.has(record.type);
    return record.type === wanted.type || record.type === "CNAME";
  });
}

/** Several records of one name and type differ by what they say: a text, or data of which the API makes one. */
function saysSame(record: DnsRecord, wanted: RecordFields): boolean {
  return wanted.data === undefined
    ? record.content === wanted.content
    : containsAll(record.data, wanted.data);
}

/** Whether the type of a record can be changed in place (TUN-928). */
export function canBecome(from: string, to: string): boolean {
  return from === to || (ADDRESSES.has(from) && ADDRESSES.has(to));
}

/** Members of the wanted record that differ from the remote one. */
export function differences(
  remote: DnsRecord,
  wanted: RecordFields & { comment: string },
): Partial<DnsRecord> {
  const changed = Object.entries(wanted).filter(([field, value]) => {
    const held = (remote as unknown as Record<string, unknown>)[field];
    if (field === "data") return !containsAll(held, value);
    return JSON.stringify(sorted(held ?? null)) !== JSON.stringify(sorted(value));
  });
  return Object.fromEntries(changed) as Partial<DnsRecord>;
}

function containsAll(held: unknown, wanted: unknown): boolean {
  return isMap(held) && isMap(wanted) && Object.entries(wanted).every(([key, value]) => held[key] === value);
}
