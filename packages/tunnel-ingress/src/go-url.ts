/**
 * URLs as Go's `net/url` takes them apart (Go 1.26), as far as cloudflared looks at them: scheme, host and path of a
 * service. The URL class of the platform follows another standard: it takes `http:svc`, adds a path `/` and refuses
 * ports above 65535.
 */

export interface GoUrl {
  /** Lower case. */
  readonly scheme: string;
  /** Without port and without the brackets of an IPv6 address. */
  readonly hostname: string;
  /** As written, without the colon; empty when there is none. */
  readonly port: string;
  readonly path: string;
  readonly userInfo: boolean;
  readonly query: boolean;
  readonly fragment: boolean;
}

export class GoUrlError extends Error {
  override readonly name = "GoUrlError";
}

/** Takes a URL apart; throws {@link GoUrlError} where Go refuses it. */
export function parseGoUrl(text: string): GoUrl {
  const [withoutFragment, fragment] = cut(text, "#");
  for (const character of withoutFragment) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f) throw new GoUrlError("invalid control character in URL");
  }
  if (fragment !== undefined) checkEscapes(fragment);
  const { scheme, rest } = cutScheme(withoutFragment);
  const [beforeQuery, query] = cut(rest, "?");
  const parts = { scheme, query: query !== undefined, fragment: fragment !== undefined };
  const none = { ...parts, hostname: "", port: "", userInfo: false };
  if (!beforeQuery.startsWith("/")) {
    // With a scheme Go calls the rest opaque: there is neither host nor path.
    if (scheme !== "") return { ...none, path: "" };
    if ((beforeQuery.split("/", 1)[0] ?? "").includes(":")) {
      throw new GoUrlError("first path segment in URL cannot contain colon");
    }
  }
  const hasAuthority = beforeQuery.startsWith("//") && (scheme !== "" || !beforeQuery.startsWith("///"));
  if (!hasAuthority) {
    checkEscapes(beforeQuery);
    return { ...none, path: beforeQuery };
  }
  const slash = beforeQuery.indexOf("/", 2);
  const authority = slash < 0 ? beforeQuery.slice(2) : beforeQuery.slice(2, slash);
  const path = slash < 0 ? "" : beforeQuery.slice(slash);
  const at = authority.lastIndexOf("@");
  if (at >= 0) checkUserInfo(authority.slice(0, at));
  const host = parseHost(authority.slice(at + 1), scheme);
  checkEscapes(path);
  return { ...parts, ...host, path, userInfo: at >= 0 };
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function cutScheme(text: string): { scheme: string; rest: string } {
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (/[a-zA-Z]/.test(character)) continue;
    if (/[0-9+.-]/.test(character) && at > 0) continue;
    if (character !== ":") break;
    if (at === 0) throw new GoUrlError("missing protocol scheme");
    return { scheme: text.slice(0, at).toLowerCase(), rest: text.slice(at + 1) };
  }
  return { scheme: "", rest: text };
}

function checkUserInfo(text: string): void {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(text)) throw new GoUrlError("net/url: invalid userinfo");
  checkEscapes(text);
}

/** Every `%` begins two hexadecimal digits. */
function checkEscapes(text: string): void {
  const bad = /%(?![0-9a-fA-F]{2})/.exec(text);
  if (bad) throw new GoUrlError(`invalid URL escape ${JSON.stringify(text.slice(bad.index, bad.index + 3))}`);
}

function parseHost(text: string, scheme: string): { hostname: string; port: string } {
  if (text.includes("[")) return parseBracketed(text);
  // Go divides at the last colon, and refuses more than one for http and https alone.
  const web = scheme === "http" || scheme === "https";
  const colon = web ? text.indexOf(":") : text.lastIndexOf(":");
  const port = colon < 0 ? "" : checkPort(text.slice(colon));
  const name = colon < 0 ? text : text.slice(0, colon);
  for (const [escaped] of name.matchAll(/%(..?)?/gs)) {
    // Bytes above 0x7f and the percent sign itself may be written as escapes in a host.
    if (!/^%([89a-fA-F][0-9a-fA-F]|25)$/.test(escaped))
      throw new GoUrlError(`invalid URL escape "${escaped}"`);
  }
  const bad = /[ \\^`{|}]/.exec(name);
  if (bad) throw new GoUrlError(`invalid character "${bad[0]}" in host name`);
  return { hostname: name, port };
}

function parseBracketed(text: string): { hostname: string; port: string } {
  const end = text.lastIndexOf("]");
  if (!text.startsWith("[") || end < 0) throw new GoUrlError("invalid host");
  const port = checkPort(text.slice(end + 1));
  const address = text.slice(1, end);
  const [ip, zone] = cut(address, "%25");
  if (zone === "" || !isIpv6(ip)) throw new GoUrlError("invalid host");
  if (zone !== undefined) checkEscapes(zone);
  return { hostname: address, port };
}

function checkPort(text: string): string {
  if (text !== "" && !/^:[0-9]*$/.test(text)) throw new GoUrlError(`invalid port "${text}" after host`);
  return text.slice(1);
}

/** Whether the text is an IPv6 address; one may end in an IPv4 address. */
export function isIpv6(text: string): boolean {
  const embedded = /^(.*:)(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/s.exec(text);
  if (embedded && !isIpv4(embedded[2] ?? "")) return false;
  const groups = embedded ? `${embedded[1]}0:0` : text;
  const halves = groups.split("::");
  if (halves.length > 2) return false;
  const counts = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (!counts.flat().every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  const total = counts.flat().length;
  return halves.length === 2 ? total <= 7 : total === 8;
}

/** Whether the text is an IPv4 address in dotted decimal without leading zeros. */
export function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}
