/** Options towards the origin, in the form that the API takes. */
import { parseGoDuration } from "@quartet/tunnel-ingress";
import { isMap, type Unknown } from "./document.ts";

/** Something that the owner of a rule or setting should know. */
export interface OptionNotice {
  readonly reason: string;
  readonly message: string;
}

export interface CleanOptions {
  /** Nothing when no option is left. */
  readonly originRequest?: Unknown;
  readonly notices: readonly OptionNotice[];
}

const DURATIONS = new Set(["connectTimeout", "tlsTimeout", "tcpKeepAlive", "keepAliveTimeout"]);
const FLAGS = new Set([
  "noTLSVerify",
  "http2Origin",
  "noHappyEyeballs",
  "matchSNItoHost",
  "disableChunkedEncoding",
  "bastionMode",
]);
const TEXTS = new Set(["httpHostHeader", "originServerName", "caPool", "proxyAddress", "proxyType"]);
const NANOSECONDS = 1e9;
const MAX_PORT = 65_535;

/** The options without those that cloudflared could not use; durations become whole seconds (TUN-716, TUN-717). */
export function cleanOriginRequest(options: Unknown | undefined): CleanOptions {
  const notices: OptionNotice[] = [];
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(options ?? {})) {
    if (value === undefined || value === null) continue;
    const clean = cleanOption(field, value);
    if (clean !== undefined) kept[field] = clean;
    else
      notices.push({
        reason: "InvalidConfig",
        message: `originRequest.${field}: ${JSON.stringify(value)} is left out`,
      });
  }
  return Object.keys(kept).length === 0 ? { notices } : { originRequest: kept, notices };
}

function cleanOption(field: string, value: unknown): unknown {
  if (DURATIONS.has(field)) return secondsOf(value);
  if (FLAGS.has(field)) return typeof value === "boolean" ? value : undefined;
  if (field === "proxyType") return value === "" || value === "socks" ? value : undefined;
  if (TEXTS.has(field)) return typeof value === "string" && value !== "" ? value : undefined;
  if (field === "keepAliveConnections") return inRange(value, 0, Number.MAX_SAFE_INTEGER) ? value : undefined;
  if (field === "proxyPort") return inRange(value, 1, MAX_PORT) ? value : undefined;
  if (field === "ipRules") return Array.isArray(value) ? value : undefined;
  if (field === "access") return isMap(value) ? value : undefined;
  return undefined;
}

/** Whole seconds, rounded up, of a number of seconds or a Go duration; nothing when it is neither or negative. */
export function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === "string" ? (parseGoDuration(value) ?? Number.NaN) / NANOSECONDS : value;
  return typeof seconds === "number" && seconds >= 0 && Number.isFinite(seconds)
    ? Math.ceil(seconds)
    : undefined;
}

function inRange(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}
