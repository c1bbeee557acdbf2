/** The sources of the next configuration: what contributes now, and what must stay of what was stored. */
import { type ConfigDocument, type Source, type Sources, sameSource } from "../desired/document.ts";
import type { Collected } from "./collect.ts";
import type { HostLimit } from "./host-limits.ts";

/**
 * The sources by key. One whose object cannot be placed at the moment stays as it was (TUN-313), and so does one whose
 * object has moved to another tunnel, until that tunnel serves it (TUN-312).
 * Whatever the state of its object, a source gets no host by staying that its namespace may not claim (TUN-653).
 * @param limit marks what a source may not claim
 * @param others documents of all tunnels by identifier
 * @param now wall-clock time in milliseconds
 * @param namespaces those that are watched; none means all. What came from others is not this manager's to take away
 */
export function nextSources(
  stored: ConfigDocument,
  { contributors, elsewhere, unseen }: Collected,
  others: ReadonlyMap<string, ConfigDocument>,
  now: number,
  namespaces: readonly string[],
  limit: HostLimit,
): Sources {
  const updatedAt = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const next: Record<string, Source> = {};
  for (const [key, contributor] of contributors) {
    const source = limit(contributor.source);
    const old = stored.sources[key];
    next[key] = old !== undefined && sameSource(old, source) ? old : { ...source, updatedAt };
  }
  for (const [key, source] of Object.entries(stored.sources)) {
    if (next[key] !== undefined) continue;
    if (isOutside(source, namespaces)) next[key] = source;
    else if (unseen.has(source.kind)) next[key] = limit(source);
    if (!elsewhere.has(key)) continue;
    const id = elsewhere.get(key);
    const other = id === undefined ? undefined : others.get(id);
    const served = other?.syncStatus === "Synced" && other.sources[key] !== undefined;
    if (!served) next[key] = limit(source);
  }
  return next;
}

/** The sources of the last transmission, to fall back to, with what they may not claim any more marked. */
export function acceptedSources(
  { sources }: ConfigDocument,
  namespaces: readonly string[],
  limit: HostLimit,
): Sources {
  const entries = Object.entries(sources);
  return Object.fromEntries(
    entries.map(([key, source]) => [key, isOutside(source, namespaces) ? source : limit(source)]),
  );
}

function isOutside({ namespace = "" }: Source, namespaces: readonly string[]): boolean {
  return namespaces.length > 0 && namespace !== "" && !namespaces.includes(namespace);
}
