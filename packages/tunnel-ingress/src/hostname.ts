/** Hostnames of rules and requests. */
import { domainToASCII } from "node:url";

/** Host and port as Go's `net.SplitHostPort` divides them, or nothing where it fails. */
export function splitHostPort(text: string): { host: string; port: string } | undefined {
  const colon = text.lastIndexOf(":");
  if (colon < 0) return undefined;
  const port = text.slice(colon + 1);
  let host = text.slice(0, colon);
  let [afterOpen, afterClose] = [0, 0];
  if (text.startsWith("[")) {
    const end = text.indexOf("]");
    if (end < 0 || end + 1 !== colon) return undefined;
    host = text.slice(1, end);
    [afterOpen, afterClose] = [1, end + 1];
  } else if (host.includes(":")) return undefined;
  if (text.indexOf("[", afterOpen) >= 0 || text.indexOf("]", afterClose) >= 0) return undefined;
  return { host, port };
}

/** Whether cloudflared sees a port in a hostname; it does so in `https://host` too. */
export function holdsPort(hostname: string): boolean {
  return splitHostPort(hostname) !== undefined;
}

/** Whether a rule with this host and path would serve every request. */
export function isCatchAll(hostname: string, path: string): boolean {
  return (hostname === "" || hostname === "*") && path === "";
}

/**
 * The ASCII form under which cloudflared also knows a hostname (the lookup profile of IDNA 2008): lower case, other
 * alphabets in punycode. Nothing when the name has none; wildcards and underscores count as such.
 */
export function punycodeOf(hostname: string): string | undefined {
  const ascii = isAscii(hostname) ? hostname.toLowerCase() : domainToASCII(hostname);
  if (ascii === "") return undefined;
  return ascii.split(".").every(isLabel) ? ascii : undefined;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** A label under the strict rules; an empty one (a dot too many) is let pass as the lookup profile does. */
function isLabel(label: string): boolean {
  if (label === "") return true;
  if (!/^[a-z0-9-]+$/.test(label) || label.startsWith("-") || label.endsWith("-")) return false;
  return label.slice(2, 4) !== "--" || label.startsWith("xn--");
}
