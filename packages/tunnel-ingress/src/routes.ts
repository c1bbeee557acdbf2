/** Which rule serves a request. */
import { punycodeOf, splitHostPort } from "./hostname.ts";
import { compilePath, type PathMatcher } from "./regexp.ts";
import type { IngressRule } from "./types.ts";
import { textOf } from "./validate.ts";

/**
 * Index of the first rule that serves a request, the last one when none does. The host may carry a port and is compared
 * case by case, as cloudflared does; the path is the decoded one, without query.
 */
export type IngressRoutes = (host: string, path: string) => number;

/** Prepares valid rules for look-ups. */
export function routesOf(rules: readonly IngressRule[]): IngressRoutes {
  const prepared = rules.map(prepare);
  return (host, path) => {
    const name = splitHostPort(host)?.host ?? host;
    const found = prepared.findIndex(({ hosts, matches }) => servesHost(hosts, name) && matches(path));
    return found < 0 ? prepared.length - 1 : found;
  };
}

interface Prepared {
  /** Patterns, one of which must fit; none at all means every host. */
  readonly hosts: readonly string[];
  readonly matches: PathMatcher;
}

function prepare(rule: IngressRule): Prepared {
  const [hostname, path] = [textOf(rule.hostname), textOf(rule.path)];
  const matches = path === "" ? () => true : compilePath(path);
  if (hostname === "" || hostname === "*") return { hosts: [], matches };
  const punycode = punycodeOf(hostname);
  return { hosts: punycode === undefined ? [hostname] : [hostname, punycode], matches };
}

function servesHost(patterns: readonly string[], host: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => fits(pattern, host));
}

/** A wildcard stands for one label or more; the name below which it stands is not among them. */
function fits(pattern: string, host: string): boolean {
  return pattern === host || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)));
}
