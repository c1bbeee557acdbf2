/** From the sources of a tunnel to the configuration that is sent (section 8). */
import { createHash } from "node:crypto";
import { checkRule, originProblem, serviceProblem } from "./check-rule.ts";
import {
  type Conflict,
  type Rejection,
  type Source,
  type SourceRule,
  type Sources,
  sorted,
  type Unknown,
} from "./document.ts";
import { compareBytes, orderRules, type PlacedRule } from "./order.ts";
import { cleanOriginRequest, type OptionNotice } from "./origin-request.ts";

/** Served where no rule fits and nobody asks for something else. */
export const DEFAULT_FALLBACK = "http_status:404";
/** Rules of one tunnel that are more than cloudflared, which tries one after the other, does well with (TUN-631). */
const MANY_RULES = 1000;
/** Hosts of one source that are told one by one when it may not claim them: it could name thousands (TUN-652). */
const MAX_DENIED = 10;
/** Priorities of the kinds, lower ones first. */
const PRIORITY: Readonly<Record<string, number>> = { Tunnel: 10, ClusterTunnel: 10, TunnelBinding: 50 };
const USUAL_PRIORITY = 100;

export interface IngressEntry {
  readonly hostname?: string;
  readonly path?: string;
  readonly service: string;
  readonly originRequest?: Unknown;
}

/** The member `config` of what is sent. */
export interface TunnelConfig {
  readonly ingress: readonly IngressEntry[];
  readonly originRequest: Unknown;
  readonly "warp-routing": { readonly enabled: boolean };
}

/** Something to tell the owner of a source. */
export interface SourceNotice extends OptionNotice {
  readonly source: string;
}

export interface Aggregate {
  readonly config: TunnelConfig;
  /** First 16 hexadecimal digits of the SHA-256 of the configuration (TUN-612). */
  readonly hash: string;
  readonly conflicts: readonly Conflict[];
  readonly rejected: readonly Rejection[];
  readonly notices: readonly SourceNotice[];
  /** Hosts that are served, in order. */
  readonly hostnames: readonly string[];
  /** Keys of the sources of the rules, in the order of these; the fallback has none. */
  readonly owners: readonly string[];
}

/** Priority of a source unless a rule names its own (D8). */
export function priorityOf({ kind, priority }: Pick<Source, "kind" | "priority">): number {
  return priority ?? PRIORITY[kind] ?? USUAL_PRIORITY;
}

/** Aggregates sources; the outcome depends on nothing but them. */
export function aggregate(sources: Sources): Aggregate {
  const rejected: Rejection[] = [];
  const notices: SourceNotice[] = [];
  const placed: PlacedRule[] = [];
  for (const [key, source] of Object.entries(sources)) {
    rejected.push(...deniedHosts(key, source));
    (source.rules ?? []).forEach((rule, index) => {
      if (rule.denied !== undefined) return;
      const { rule: checked, problem, notices: told } = checkRule(rule);
      notices.push(...told.map((notice) => ({ source: key, ...notice })));
      if (checked === undefined) {
        const { hostname = "", path = "" } = rule;
        rejected.push({ source: key, hostname, path, reason: problem ?? "" });
      } else {
        const priority = rule.priority ?? priorityOf(source);
        placed.push({ rule: checked, hostname: checked.hostname, priority, source: key, index });
      }
    });
  }
  const { winners, conflicts } = settleDuplicates(placed, sources, notices);
  const order = settingsOrder(sources, Object.keys(sources));
  const settings = settingsOf(sources, order, notices);
  const ordered = orderRules(winners);
  const owner = order.find((key) => isTunnel(sources[key]));
  if (owner !== undefined && ordered.length > MANY_RULES) {
    const message = `the tunnel has ${Math.floor(ordered.length / 100) * 100} rules or more; spread its hosts over several`;
    notices.push({ source: owner, reason: "ManyRules", message });
  }
  const config = {
    ingress: [
      ...ordered.map(({ rule, hostname }) => entryOf(rule, hostname)),
      { service: settings.fallback },
    ],
    originRequest: settings.originRequest,
    "warp-routing": { enabled: settings.warpRouting },
  };
  const hostnames = hostnamesOf(config.ingress);
  rejected.sort((a, b) => compareBytes(JSON.stringify(a), JSON.stringify(b)));
  const owners = ordered.map(({ source }) => source);
  return { config, hash: hashOf(config), conflicts, rejected, notices, hostnames, owners };
}

/** Hosts of rules, each once, in order. */
export function hostnamesOf(rules: readonly IngressEntry[]): string[] {
  const hosts = rules.flatMap(({ hostname }) => (hostname === undefined ? [] : [hostname]));
  return [...new Set(hosts)].sort(compareBytes);
}

/** What the namespace of a source may not claim, each host once; of many some by name (TUN-652). */
export function deniedHosts(source: string, { namespace = "", rules, settings }: Source): Rejection[] {
  const reasons = new Map<string, string>();
  for (const { hostname = "", denied } of rules ?? [])
    if (denied !== undefined) reasons.set(hostname, denied);
  if (settings?.fallbackDenied !== undefined) reasons.set("", settings.fallbackDenied);
  const rejection = (hostname: string, what: string): Rejection => {
    const reason = `namespace ${namespace} may not claim ${what}`;
    return { source, hostname, path: "", reason, cause: "HostNotAllowed" };
  };
  const told = [...reasons]
    .slice(0, MAX_DENIED)
    .map(([hostname, reason]) => rejection(hostname, `${hostname || "every host"}: ${reason}`));
  const more = reasons.size - told.length;
  return more === 0 ? told : [...told, rejection("", `${more} further hosts, by spec.hostPolicy`)];
}

/** Hash of a configuration: the order of members does not count (TUN-612). */
export function hashOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("hex")
    .slice(0, 16);
}

function entryOf({ path, service, originRequest }: SourceRule, hostname: string): IngressEntry {
  return {
    ...(hostname !== "" && { hostname }),
    ...(path !== undefined && path !== "" && { path }),
    service,
    ...(originRequest !== undefined && { originRequest }),
  };
}

/** Of rules for one host and path the first in line is served; the others are told apart by source (TUN-621). */
function settleDuplicates(placed: readonly PlacedRule[], sources: Sources, notices: SourceNotice[]) {
  const groups = new Map<string, PlacedRule[]>();
  for (const rule of placed) {
    const key = JSON.stringify([rule.hostname, rule.rule.path ?? ""]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [rule]);
    else group.push(rule);
  }
  const winners: PlacedRule[] = [];
  const conflicts: Conflict[] = [];
  for (const group of groups.values()) {
    if (group.length > 1) group.sort((a, b) => compareClaims(a, b, sources));
    const [winner, ...rest] = group as [PlacedRule, ...PlacedRule[]];
    winners.push(winner);
    const losers = [...new Set(rest.map(({ source }) => source))].filter(
      (source) => source !== winner.source,
    );
    const { hostname, rule } = winner;
    if (losers.length > 0)
      conflicts.push({
        hostname,
        path: rule.path ?? "",
        winner: winner.source,
        losers: losers.sort(compareBytes),
      });
    const own = rest.find((other) => other.source === winner.source && other.rule.service !== rule.service);
    if (own !== undefined) {
      const message = `${hostname}${rule.path ?? ""} is served from ${rule.service}; ${own.rule.service} comes later and is left out`;
      notices.push({ source: winner.source, reason: "RuleConflict", message });
    }
  }
  conflicts.sort((a, b) => compareBytes(a.hostname, b.hostname) || compareBytes(a.path, b.path));
  return { winners, conflicts };
}

function compareClaims(a: PlacedRule, b: PlacedRule, sources: Sources): number {
  return a.priority - b.priority || compareAge(a.source, b.source, sources) || a.index - b.index;
}

/** The older source first; one of unknown age counts as the newest. */
function compareAge(a: string, b: string, sources: Sources): number {
  const time = (key: string): number => {
    const at = Date.parse(sources[key]?.createdAt ?? "");
    return Number.isNaN(at) ? Number.MAX_SAFE_INTEGER : at;
  };
  return time(a) - time(b) || compareBytes(a, b);
}

/** Keys of sources, those first whose settings count before others' (TUN-626). */
function settingsOrder(sources: Sources, keys: readonly string[]): string[] {
  return keys.toSorted((a, b) => {
    const [one, two] = [sources[a], sources[b]];
    return (one && two ? priorityOf(one) - priorityOf(two) : 0) || compareAge(a, b, sources);
  });
}

function isTunnel(source: Source | undefined): boolean {
  return source?.kind === "Tunnel" || source?.kind === "ClusterTunnel";
}

/** The tunnel object whose settings count, where that is not the one of the key. */
export function settingsWinner(sources: Sources, key: string): string | undefined {
  const tunnels = Object.keys(sources).filter((one) => isTunnel(sources[one]));
  const [winner] = settingsOrder(sources, tunnels);
  return winner === key || sources[key] === undefined ? undefined : winner;
}

/** Settings field by field from the first source that has one (TUN-626, TUN-640). */
function settingsOf(sources: Sources, order: readonly string[], notices: SourceNotice[]) {
  let warpRouting: boolean | undefined;
  let originRequest: Unknown | undefined;
  let fallback: string | undefined;
  for (const key of order) {
    const settings = sources[key]?.settings;
    if (settings === undefined || settings === null) continue;
    if (typeof settings.warpRouting === "boolean") warpRouting ??= settings.warpRouting;
    if (originRequest === undefined && settings.originRequest !== undefined) {
      const clean = cleanOriginRequest(settings.originRequest);
      notices.push(...clean.notices.map((notice) => ({ source: key, ...notice })));
      const problem = clean.originRequest === undefined ? undefined : originProblem(clean.originRequest);
      if (problem === undefined) originRequest = clean.originRequest;
      else notices.push({ source: key, reason: "InvalidConfig", message: `originRequest: ${problem}` });
    }
    const target = settings.fallbackTarget;
    if (typeof target !== "string" || target === "" || target === DEFAULT_FALLBACK) continue;
    if (settings.fallbackDenied !== undefined) continue;
    const problem = serviceProblem(target);
    if (problem !== undefined)
      notices.push({ source: key, reason: "InvalidConfig", message: `fallback ${target}: ${problem}` });
    else if (fallback === undefined) fallback = target;
    else if (fallback !== target) {
      const message = `the tunnel falls back to ${fallback}; ${target} is left out`;
      notices.push({ source: key, reason: "FallbackConflict", message });
    }
  }
  return {
    warpRouting: warpRouting ?? false,
    originRequest: originRequest ?? {},
    fallback: fallback ?? DEFAULT_FALLBACK,
  };
}
