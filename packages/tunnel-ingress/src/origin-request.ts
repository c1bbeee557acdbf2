/** Options of a rule towards its origin: what cloudflared's decoders take. */
import { parseGoDuration } from "./duration.ts";
import { isIpv4, isIpv6 } from "./go-url.ts";
import { IngressError } from "./problems.ts";
import type { ConfigForm } from "./types.ts";

type Check = (value: unknown, form: ConfigForm) => boolean;

const text: Check = (value, form) => typeof value === "string" || (form === "file" && isScalar(value));
const flag: Check = (value) => typeof value === "boolean";
const integer: Check = (value) => Number.isSafeInteger(value);
const natural: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const duration: Check = (value, form) =>
  form === "remote"
    ? Number.isSafeInteger(value)
    : typeof value === "string" && parseGoDuration(value) !== undefined;

/** Fields of `originRequest` and what each may hold. */
const FIELDS: Readonly<Record<string, Check>> = {
  connectTimeout: duration,
  tlsTimeout: duration,
  tcpKeepAlive: duration,
  keepAliveTimeout: duration,
  keepAliveConnections: integer,
  proxyPort: natural,
  noHappyEyeballs: flag,
  matchSNItoHost: flag,
  noTLSVerify: flag,
  disableChunkedEncoding: flag,
  bastionMode: flag,
  http2Origin: flag,
  httpHostHeader: text,
  originServerName: text,
  caPool: text,
  proxyAddress: text,
  proxyType: text,
  ipRules: (value) => Array.isArray(value) && value.every(isIpRule),
  access: (value, form) => isMap(value) && isAccess(value, form),
};

/** Throws when cloudflared could not read the options. Unknown ones are left alone, as it does. */
export function checkOriginRequest(value: unknown, form: ConfigForm, rule?: number): void {
  if (value === undefined || value === null) return;
  if (!isMap(value)) throw new IngressError("malformed", "originRequest is no object", rule);
  for (const [field, held] of Object.entries(value)) {
    const check = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (check === undefined || held === null || held === undefined || check(held, form)) continue;
    const what = Array.isArray(held) ? "list" : typeof held;
    throw new IngressError("malformed", `originRequest.${field}: cloudflared cannot read this ${what}`, rule);
  }
}

/** Member of the options, whatever it holds. */
export function optionOf(originRequest: unknown, field: string): unknown {
  return isMap(originRequest) && Object.hasOwn(originRequest, field) ? originRequest[field] : undefined;
}

/** Throws when access control asks for audiences of no team. */
export function checkAccess(originRequest: unknown, rule: number): void {
  const access = optionOf(originRequest, "access");
  if (!isMap(access) || access.required !== true) return;
  const tags = access.audTag;
  if ((access.teamName ?? "") !== "" || !Array.isArray(tags) || tags.length === 0) return;
  throw new IngressError("access", "access.TeamName cannot be blank when access.audTags are present", rule);
}

/** Throws when one of the address rules of a SOCKS proxy is none. */
export function checkIpRules(originRequest: unknown, rule: number): void {
  const rules = optionOf(originRequest, "ipRules");
  if (!Array.isArray(rules)) return;
  for (const { prefix, ports } of rules as { prefix?: unknown; ports?: unknown }[]) {
    const problem = ipRuleProblem(prefix, ports);
    if (problem !== undefined) {
      throw new IngressError("ip-rules", `unable to create ip rule for socks-proxy: ${problem}`, rule);
    }
  }
}

function ipRuleProblem(prefix: unknown, ports: unknown): string | undefined {
  if (typeof prefix !== "string" || prefix === "") return "no prefix provided";
  if (!isCidr(prefix)) return `unable to parse cidr: ${prefix}`;
  const bad = Array.isArray(ports) ? ports.find((port) => port < 1 || port > 65535) : undefined;
  return bad === undefined ? undefined : `invalid port ${bad}, needs to be between 1 and 65535`;
}

function isCidr(value: string): boolean {
  const [address = "", bits = "", ...rest] = value.split("/");
  if (rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(bits)) return false;
  if (isIpv4(address)) return Number(bits) <= 32;
  return isIpv6(address) && Number(bits) <= 128;
}

function isIpRule(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { prefix, ports, allow } = value;
  const portsFit =
    isAbsent(ports) || (Array.isArray(ports) && ports.every((port) => Number.isSafeInteger(port)));
  return (
    (isAbsent(prefix) || typeof prefix === "string") && portsFit && (isAbsent(allow) || flag(allow, "remote"))
  );
}

function isAccess(value: Readonly<Record<string, unknown>>, form: ConfigForm): boolean {
  const { required, teamName, audTag } = value;
  if (!isAbsent(required) && typeof required !== "boolean") return false;
  if (!isAbsent(teamName) && !text(teamName, form)) return false;
  return isAbsent(audTag) || (Array.isArray(audTag) && audTag.every((tag) => text(tag, form)));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isScalar(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
