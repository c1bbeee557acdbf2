/** Which hosts a namespace may claim on a tunnel, by the word of whoever owns the tunnel (TUN-650 to TUN-654). */
import type { DeepReadonly } from "@quartet/core";
import type { LabelSelector } from "../gateway-kinds.ts";
import type { Source, SourceRule } from "./document.ts";
import { fits } from "./gateway/selector.ts";
import { normaliseHostname } from "./hostname.ts";

/** An entry of `spec.hostPolicy`: the namespaces that it means, by name or by their labels, may claim the hosts. */
export interface HostGrant {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: DeepReadonly<LabelSelector>;
  /** Names, `*.` with a suffix for every name below that, or `*` for all. */
  readonly hostnames: readonly string[];
}

/** What keeps a namespace from claiming a host, in words for its owner; nothing when it may. The empty host stands for all. */
export type HostRefusal = (namespace: string, hostname: string) => string | undefined;

/** Entries as they are looked up; the same for every namespace. */
export interface CompiledGrants {
  readonly grants: readonly HostGrant[];
  /** Entries that have a pattern, by their places. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** Keys of all patterns in order, with the same places. */
  readonly keys: readonly (readonly [key: string, places: readonly number[]])[];
  /** Lengths of wildcards: suffixes of others need no look-up. */
  readonly lengths: ReadonlySet<number>;
}

/** Pattern for everything. */
const ALL = "*";

/** Prepares the entries of a tunnel object. */
export function compileGrants(grants: readonly HostGrant[]): CompiledGrants {
  const places = new Map<string, number[]>();
  grants.forEach(({ hostnames }, index) => {
    for (const hostname of hostnames) {
      const pattern = normaliseHostname(hostname) || ALL;
      const known = places.get(pattern);
      if (known === undefined) places.set(pattern, [index]);
      else known.push(index);
    }
  });
  const keys = [...places].map(([pattern, at]) => [keyOf(pattern), at] as const);
  keys.sort(([a], [b]) => (a < b ? -1 : 1));
  const wildcards = [...places.keys()].filter((pattern) => pattern.startsWith("*."));
  return { grants, places, keys, lengths: new Set(wildcards.map(({ length }) => length)) };
}

/**
 * The policy of a tunnel object. Of all patterns that cover a host the most specific one decides, and whoever an entry
 * with it means may claim the host (TUN-651). A wildcard stands for all names below it, so each pattern below it must be
 * for the namespace as well. A host takes a look-up for each of its suffixes that is as long as a wildcard, a wildcard a
 * binary search more (TUN-654).
 * @param owner the object, such as `ClusterTunnel/main`
 * @param labelsOf labels of a namespace; none for one that is not known
 */
export function hostPolicy(
  { grants, places, keys, lengths }: CompiledGrants,
  owner: string,
  labelsOf: (namespace: string) => Readonly<Record<string, string>>,
): HostRefusal {
  const meant = memo((namespace) => grants.map((grant) => means(grant, namespace, labelsOf)));
  /** Keys of patterns that are not for the namespace. */
  const others = memo((namespace) => {
    const own = meant(namespace);
    return keys.filter(([, at]) => !at.some((place) => own[place])).map(([key]) => key);
  });
  return (namespace, hostname) => {
    const host = normaliseHostname(hostname);
    const deciding = decidingPattern(host, places, lengths);
    const no = `spec.hostPolicy of ${owner} gives`;
    if (deciding === undefined) return `${no} it to nobody`;
    const own = meant(namespace);
    if (!places.get(deciding)!.some((place) => own[place])) return `${no} ${deciding} to others`;
    const below = host === "" || host.startsWith("*.") ? firstBelow(host, others(namespace)) : undefined;
    return below === undefined ? undefined : `${no} ${nameOf(below)}, which it includes, to others`;
  };
}

/** A source with a mark on what its namespace may not claim; the same one when there is nothing to mark or unmark. */
export function limitSource(source: Source, policies: readonly HostRefusal[]): Source {
  const { namespace = "", settings } = source;
  const rules = source.rules ?? [];
  // The settings of a tunnel object are its owner's.
  if (namespace === "" || source.kind === "Tunnel") return source;
  const refusal = memo((hostname) => {
    for (const policy of policies) {
      const reason = policy(namespace, hostname);
      if (reason !== undefined) return reason;
    }
    return undefined;
  });
  let changed = false;
  const marked = rules.map((rule): SourceRule => {
    const reason = refusal(rule.hostname ?? "");
    if (rule.denied === reason) return rule;
    changed = true;
    const { denied: _, ...bare } = rule;
    return reason === undefined ? bare : { ...bare, denied: reason };
  });
  // What a class falls back to is the word of whoever made the class.
  const own = settings?.fallbackTarget !== undefined && settings.fallbackOfClass !== true;
  const reason = own ? refusal("") : undefined;
  if (settings?.fallbackDenied === reason) return changed ? { ...source, rules: marked } : source;
  const { fallbackDenied: _, ...bare } = settings ?? {};
  return {
    ...source,
    ...(source.rules !== undefined && { rules: marked }),
    settings: reason === undefined ? bare : { ...bare, fallbackDenied: reason },
  };
}

function means(
  { namespaces = [], namespaceSelector }: HostGrant,
  namespace: string,
  labelsOf: (namespace: string) => Readonly<Record<string, string>>,
): boolean {
  if (namespaces.includes(namespace)) return true;
  return namespaceSelector !== undefined && fits(namespaceSelector, labelsOf(namespace));
}

/** The name itself, else the wildcard with the longest suffix, else the pattern for all. */
function decidingPattern(
  host: string,
  places: ReadonlyMap<string, unknown>,
  lengths: ReadonlySet<number>,
): string | undefined {
  if (host !== "" && places.has(host)) return host;
  for (let at = host.indexOf("."); at >= 0; at = host.indexOf(".", at + 1)) {
    if (!lengths.has(host.length - at + 1)) continue;
    const pattern = `*${host.slice(at)}`;
    if (places.has(pattern)) return pattern;
  }
  return places.has(ALL) ? ALL : undefined;
}

/** Labels from the last to the first, each with a dot behind: what is below a name begins with its key. */
function keyOf(pattern: string): string {
  return `${pattern.split(".").reverse().join(".")}.`;
}

function nameOf(key: string): string {
  return key.slice(0, -1).split(".").reverse().join(".");
}

/** The first key that is below a wildcard. */
function firstBelow(wildcard: string, keys: readonly string[]): string | undefined {
  const prefix = wildcard === "" ? "" : keyOf(wildcard.slice(2));
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! > prefix) high = middle;
    else low = middle + 1;
  }
  const found = keys[low];
  return found?.startsWith(prefix) === true ? found : undefined;
}

function memo<T>(compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key) as T;
  };
}
