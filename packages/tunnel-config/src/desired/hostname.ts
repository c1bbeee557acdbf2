/** Hostnames of rules (TUN-471, TUN-702 to TUN-706). */
import { holdsPort, punycodeOf } from "@quartet/tunnel-ingress";

/** Longest name and longest label of the DNS. */
const MAX_NAME = 253;
const MAX_LABEL = 63;

/** Nearly all names, most of them here for the second time: they are in their form already. */
const NORMAL = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * The form that is stored and compared: lower case, punycode, without a trailing dot; empty for every host. Names that
 * have no such form stay as they are and are refused by {@link hostnameProblem}.
 */
export function normaliseHostname(hostname: string): string {
  if (NORMAL.test(hostname) && !hostname.includes("xn--")) return hostname;
  const bare = hostname.endsWith(".") && hostname !== "*." ? hostname.slice(0, -1) : hostname;
  if (bare === "" || bare === "*") return "";
  const wildcard = bare.startsWith("*.") ? "*." : "";
  const name = bare.slice(wildcard.length);
  // Underscores stand in real names, though not in those of hosts.
  const ascii = punycodeOf(name.replaceAll("_", "a")) === undefined ? undefined : lower(name);
  return wildcard + (ascii ?? name);
}

function lower(name: string): string {
  return name
    .split(".")
    .map((label) => (label.includes("_") ? label.toLowerCase() : (punycodeOf(label) ?? label)))
    .join(".");
}

/** Why a rule cannot have this host, or nothing. */
export function hostnameProblem(hostname: string): string | undefined {
  if (hostname === "") return undefined;
  if (holdsPort(hostname)) return "hostname cannot contain a port";
  const name = hostname.startsWith("*.") ? hostname.slice(2) : hostname;
  if (name.includes("*") || name === "") return "at most one wildcard, only as leading *.";
  const labels = name.split(".");
  const valid = labels.every(
    (label) => label.length <= MAX_LABEL && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label),
  );
  return valid && name.length <= MAX_NAME ? undefined : "invalid hostname";
}
