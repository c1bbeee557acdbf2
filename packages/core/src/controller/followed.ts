/** Objects of one kind and namespace that are followed by their names: one watch tells of all of them. */
import { compareVersions } from "../cache/resource-version.ts";
import type { Cache, CacheEvent, Informer, Projection } from "../cache/types.ts";
import { isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";

/** What the watch keeps of every object of the namespace: enough to see that it changed. */
const VERSIONS: Projection = {
  name: "versions",
  metadataOnly: true,
  transform({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }) {
    const metadata = Object.entries({ name, namespace, uid, resourceVersion });
    return {
      apiVersion,
      kind,
      metadata: Object.fromEntries(metadata.filter(([, value]) => value !== undefined)),
    };
  },
};
/** Limit of one read in milliseconds. */
const READ_TIMEOUT_MS = 10_000;
/** Pauses before a read that failed is made again: 1 s, doubled each time, at most 1 min. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** What is known of an object; `unknown` until it was first looked for. */
export type Known =
  | { readonly state: "unknown" }
  | { readonly state: "found"; readonly object: DeepReadonly<KubeObject> }
  | { readonly state: "absent" }
  /** It cannot be read now. */
  | { readonly state: "unreadable"; readonly error: unknown };

export interface Followed {
  readonly known: Known;
}

export interface FollowedPlace {
  /** Follows an object; the same one again gives the same. */
  follow(name: string): Followed;
  unfollow(name: string): void;
  /** Names that are followed. */
  readonly size: number;
  close(): void;
}

export interface FollowedPlaceOptions {
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly kind: Kind;
  readonly namespace: string;
  /** What is known of an object has changed; it was `before`. */
  onChange(name: string, before: Known): void;
  readonly signal: AbortSignal;
}

interface Entry {
  known: Known;
  /** Version that was read last. */
  version: string | undefined;
  reading: boolean;
  pauseMs: number;
  cancelRetry(): void;
}

/** Begins to watch the versions of the objects of a namespace; each followed one is read when its version changes. */
export function openFollowedPlace(options: FollowedPlaceOptions): FollowedPlace {
  const { cache, clock, kind, namespace, signal } = options;
  const informer = cache.informer(kind, {
    ...(kind.namespaced && { namespaces: [namespace] }),
    projection: VERSIONS,
    optional: true,
  });
  const entries = new Map<string, Entry>();
  const budget = cache.budget();
  const forget = (name: string): void => budget.release({ namespace, name });

  const learn = (name: string, entry: Entry, known: Known): void => {
    const before = entry.known;
    if (before.state === known.state && known.state !== "found") return;
    entry.known = known;
    options.onChange(name, before);
  };

  /** Brings what is known of an object up to the watch. */
  const look = (name: string): void => {
    const entry = entries.get(name);
    if (entry === undefined || entry.reading) return;
    if (informer.state === "forbidden" || informer.state === "waiting-for-kind") {
      entry.version = undefined;
      forget(name);
      learn(name, entry, { state: "unreadable", error: informer.lastError });
      return;
    }
    const seen = informer.get({ namespace, name })?.metadata.resourceVersion;
    if (seen !== undefined) {
      if (isNewer(seen, entry.version)) void read(name, entry, seen);
    } else if (informer.hasSynced()) {
      entry.version = undefined;
      forget(name);
      learn(name, entry, { state: "absent" });
    }
  };

  const read = async (name: string, entry: Entry, seen: string): Promise<void> => {
    entry.reading = true;
    entry.cancelRetry();
    let known: Known;
    // The answer may be ahead of the watch, and must not be read again when that catches up.
    let version: string | undefined = seen;
    try {
      const object = await options.client.get(
        kind,
        { namespace, name },
        { signal, timeoutMs: READ_TIMEOUT_MS },
      );
      // An answer that came too late is not kept.
      if (entries.get(name) === entry) budget.admit(object);
      known = { state: "found", object: object as DeepReadonly<KubeObject> };
      version = object.metadata.resourceVersion;
      entry.pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      known = isNotFound(error) ? { state: "absent" } : { state: "unreadable", error };
    }
    entry.reading = false;
    if (signal.aborted || entries.get(name) !== entry) return;
    if (known.state !== "found") forget(name);
    entry.version = known.state === "unreadable" ? undefined : version;
    if (known.state === "unreadable") {
      entry.cancelRetry = clock.setTimer(entry.pauseMs, () => look(name), { unref: true });
      entry.pauseMs = Math.min(LONGEST_PAUSE_MS, entry.pauseMs * 2);
      learn(name, entry, known);
      return;
    }
    learn(name, entry, known);
    // The watch may have told of a later version meanwhile.
    look(name);
  };

  const undo = [
    informer.addHandler(({ object }: CacheEvent) => look(object.metadata.name ?? "")),
    informer.onState(() => {
      for (const name of entries.keys()) look(name);
    }),
    () => cache.release(informer as Informer),
  ];
  return {
    follow(name) {
      const present = entries.get(name);
      if (present !== undefined) return present;
      const entry: Entry = {
        known: { state: "unknown" },
        version: undefined,
        reading: false,
        pauseMs: FIRST_PAUSE_MS,
        cancelRetry: () => {},
      };
      entries.set(name, entry);
      look(name);
      return entry;
    },
    unfollow(name) {
      entries.get(name)?.cancelRetry();
      entries.delete(name);
      forget(name);
    },
    get size() {
      return entries.size;
    },
    close() {
      for (const name of [...entries.keys()]) this.unfollow(name);
      budget.close();
      for (const fn of undo.splice(0)) fn();
    },
  };
}

function isNewer(seen: string, read: string | undefined): boolean {
  if (read === undefined) return true;
  const order = compareVersions(seen, read);
  return order === undefined ? seen !== read : order > 0;
}
