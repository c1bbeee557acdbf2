/** Options of custom resources and annotations, in the names of the API. */
import type { Unknown } from "../document.ts";
import { secondsOf } from "../origin-request.ts";

/** Where the CA certificates of origins are mounted. */
export const CA_DIRECTORY = "/etc/cloudflared/certs";

/** Fields whose name differs. */
const NAMES: Readonly<Record<string, string>> = { noTlsVerify: "noTLSVerify" };
const DURATIONS = new Set(["connectTimeout", "tlsTimeout", "tcpKeepAlive", "keepAliveTimeout"]);
/** Written by the peer's defaults, so `false` says nothing (D16). */
const FALSE_IS_UNSET = new Set(["noTlsVerify", "http2Origin"]);

/** An OriginRequest of a custom resource as options of the API; nothing when it says nothing. */
export function optionsOf(origin: Unknown | undefined): Unknown | undefined {
  const options: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(origin ?? {})) {
    if (value === undefined || value === null || (value === false && FALSE_IS_UNSET.has(field))) continue;
    if (field === "caPool") options.caPool = `${CA_DIRECTORY}/${value}`;
    else options[NAMES[field] ?? field] = DURATIONS.has(field) ? (secondsOf(value) ?? value) : value;
  }
  return Object.keys(options).length === 0 ? undefined : options;
}

/** Options over others; nothing when both say nothing. */
export function overlay(base: Unknown | undefined, over: Unknown | undefined): Unknown | undefined {
  const merged = { ...base, ...over };
  return Object.keys(merged).length === 0 ? undefined : merged;
}
