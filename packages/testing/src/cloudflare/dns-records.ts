/** What a DNS record may be, and what is stored of it. */
import { isIPv4, isIPv6 } from "node:net";
import { CloudflareRefusal } from "./envelope.ts";
import type { Fields, Zone } from "./state.ts";

const TYPES = new Set(
  "A AAAA CNAME TXT MX NS SRV CAA CERT DNSKEY DS HTTPS LOC NAPTR SMIMEA SSHFP SVCB TLSA URI PTR OPENPGPKEY".split(
    " ",
  ),
);
const PROXIABLE = new Set(["A", "AAAA", "CNAME"]);
const WITH_PRIORITY = new Set(["MX", "URI"]);
/** Longest comment on the free plan and on paid ones. */
const COMMENT = { free: 100, paid: 500 } as const;
/** Times to live in seconds; 1 means automatic. */
const TTL = { least: 60, most: 86_400 } as const;

/** The content of a record that is given by parts, as the API writes it. */
const CONTENT: Readonly<Record<string, (data: Fields) => unknown[]>> = {
  SRV: ({ weight, port, target }) => [weight, port, target],
  CAA: ({ flags, tag, value }) => [flags, tag, JSON.stringify(value)],
  CERT: ({ type, key_tag, algorithm, certificate }) => [type, key_tag, algorithm, certificate],
  DNSKEY: ({ flags, protocol, algorithm, public_key }) => [flags, protocol, algorithm, public_key],
  DS: ({ key_tag, algorithm, digest_type, digest }) => [key_tag, algorithm, digest_type, digest],
  SSHFP: ({ algorithm, type, fingerprint }) => [algorithm, type, fingerprint],
  TLSA: ({ usage, selector, matching_type, certificate }) => [usage, selector, matching_type, certificate],
  SMIMEA: ({ usage, selector, matching_type, certificate }) => [usage, selector, matching_type, certificate],
  URI: ({ weight, target }) => [weight, JSON.stringify(target)],
  HTTPS: ({ priority, target, value }) => [priority, target, value],
  SVCB: ({ priority, target, value }) => [priority, target, value],
  LOC: (data) => [
    ...["lat_degrees", "lat_minutes", "lat_seconds", "lat_direction"].map((key) => data[key]),
    ...["long_degrees", "long_minutes", "long_seconds", "long_direction"].map((key) => data[key]),
    `${data.altitude ?? 0}m`,
  ],
};

/** A record as it is stored; refuses what the API refuses. `fields` are those of a whole record. */
export function recordOf(zone: Zone, fields: Fields): Fields {
  const type = String(fields.type ?? "");
  if (!TYPES.has(type)) throw invalid(`Invalid DNS record type: ${type || "none"}`);
  const name = fullName(zone, fields.name);
  const proxied = fields.proxied === true;
  if (proxied && !PROXIABLE.has(type)) throw invalid(`Records of type ${type} cannot be proxied`, 9004);
  const ttl = fields.ttl === undefined ? 1 : Number(fields.ttl);
  const inRange = Number.isInteger(ttl) && (ttl === 1 || (ttl >= TTL.least && ttl <= TTL.most));
  if (!inRange) throw invalid(`TTL must be 1 (automatic) or between ${TTL.least} and ${TTL.most}`, 9021);
  const comment = checkComment(zone, fields.comment);
  if (WITH_PRIORITY.has(type) && !Number.isInteger(fields.priority))
    throw invalid("priority is required", 9100);
  const data = typeof fields.data === "object" && fields.data !== null ? { data: fields.data } : {};
  const priority = fields.priority === undefined ? {} : { priority: fields.priority };
  return {
    name,
    type,
    content: contentOf(type, fields),
    proxiable: PROXIABLE.has(type),
    proxied,
    ttl: proxied ? 1 : ttl,
    settings: fields.settings ?? {},
    meta: {},
    comment,
    tags: Array.isArray(fields.tags) ? fields.tags : [],
    ...priority,
    ...data,
  };
}

/** Refuses a record that cannot stand beside the others. */
export function checkConflicts(zone: Zone, record: Fields, own: string | undefined): void {
  for (const [id, other] of zone.records) {
    if (id === own || other.name !== record.name) continue;
    if (other.type === record.type && other.content === record.content) {
      throw new CloudflareRefusal(400, 81058, "An identical record already exists.");
    }
    if (record.type === "CNAME" && PROXIABLE.has(String(other.type))) {
      throw new CloudflareRefusal(400, 81053, "An A, AAAA, or CNAME record with that host already exists.");
    }
    if (other.type === "CNAME" && PROXIABLE.has(String(record.type))) {
      throw new CloudflareRefusal(400, 81054, "A CNAME record with that host already exists.");
    }
  }
}

function fullName(zone: Zone, value: unknown): string {
  if (typeof value !== "string" || value === "" || value.length > 255)
    throw invalid("DNS name is invalid", 9000);
  const name = value.toLowerCase().replace(/\.$/, "");
  if (name === "@" || name === zone.name) return zone.name;
  return name.endsWith(`.${zone.name}`) ? name : `${name}.${zone.name}`;
}

function contentOf(type: string, fields: Fields): string {
  const parts = CONTENT[type];
  if (typeof fields.data === "object" && fields.data !== null && parts !== undefined) {
    return parts(fields.data as Fields).join(" ");
  }
  const { content } = fields;
  if (typeof content !== "string" || content === "") throw invalid("content is required", 9009);
  if (type === "A" && !isIPv4(content))
    throw invalid("Content for A record must be a valid IPv4 address.", 9005);
  if (type === "AAAA" && !isIPv6(content))
    throw invalid("Content for AAAA record must be a valid IPv6 address.", 9006);
  return type === "CNAME" ? content.toLowerCase().replace(/\.$/, "") : content;
}

function checkComment({ plan }: Zone, value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  const most = plan === "free" ? COMMENT.free : COMMENT.paid;
  if (typeof value === "string" && [...value].length <= most) return value;
  throw new CloudflareRefusal(400, 9313, `DNS record comment exceeds the maximum of ${most} characters`);
}

function invalid(message: string, code = 9000): CloudflareRefusal {
  return new CloudflareRefusal(400, 1004, "DNS Validation Error", [{ code, message }]);
}
