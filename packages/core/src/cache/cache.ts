/** The cache: shared informers, and reads through them. */
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { Kind, KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { DEFAULT_SYNC_TIMEOUT_MS } from "./informer/states.ts";
import type { CacheObserver } from "./observer.ts";
import { createPool } from "./pool.ts";
import { createReads } from "./reads.ts";
import { createPermits } from "./reflector/permits.ts";
import { createServerFacts } from "./reflector/server-facts.ts";
import { createBudget, createNamespaceUsage } from "./store/budget.ts";
import type { Cache } from "./types.ts";

/** Interval between resyncs: controller-runtime's `SyncPeriod`; flag `--sync-period`. CORE-175. */
const DEFAULT_RESYNC_MS = 10 * 3_600_000;

/**
 * Pages of lists in memory at a time; each has 16 MiB at most as text (`client/read-verbs.ts`), and some three times of
 * that until its objects are taken over. CORE-194.
 */
const MAX_PAGES = 4;

/**
 * What is kept of one namespace at most, in bytes: 10 000 pods in full take some 60 MiB, and the chart gives the manager
 * 512 MiB; flag `--cache-namespace-limit`. CORE-194.
 */
const DEFAULT_NAMESPACE_BYTES = 128 * 1024 * 1024;

export interface CacheOptions {
  client: Client;
  clock: Clock;
  log: Logger;
  /** Namespaces that informers cover unless they ask for others. Default: all. */
  namespaces?: readonly string[];
  /** Numbers in [0, 1) for jitter. Default `Math.random`. */
  random?: () => number;
  observer?: CacheObserver;
  /** Freeze cached objects, so that a write to one throws. Default false; programs set it by `QUARTET_CACHE_GUARD`. */
  guard?: boolean;
  /** Interval after which handlers get each object again, ± 10 %. Default 10 h; 0 turns it off. */
  resyncMs?: number;
  /** How long reads wait for a kind to sync. Default 2 min. */
  syncTimeoutMs?: number;
  /** Most bytes that are kept of one namespace, in all informers together. Default {@link DEFAULT_NAMESPACE_BYTES}. */
  namespaceBytes?: number;
}

/**
 * Cache over one API server. Its objects are shared by all readers and must not be changed: see `mutable`.
 *
 * `get` and `list` are served only by informers that hold whole objects and use no selector, for any other could hide
 * what is there; none is started for them. Who watches less reads from the informer itself.
 */
export function createCache(options: CacheOptions): Cache {
  const { client, clock, namespaces = [], guard = false } = options;
  const log = options.log.named("cache");
  const usage = createNamespaceUsage(options.namespaceBytes ?? DEFAULT_NAMESPACE_BYTES);
  const pool = createPool(namespaces, {
    client,
    clock,
    log,
    guard,
    pages: createPermits(MAX_PAGES),
    observer: options.observer ?? {},
    server: createServerFacts({ client, clock, log }),
    random: options.random ?? Math.random,
    resyncMs: options.resyncMs ?? DEFAULT_RESYNC_MS,
    usage,
  });
  const reads = createReads({
    client,
    clock,
    pool,
    namespaces,
    guard,
    syncTimeoutMs: options.syncTimeoutMs ?? DEFAULT_SYNC_TIMEOUT_MS,
  });

  return {
    informer: pool.acquire,
    release: pool.release,
    ...reads,
    overlay(kind, key, written, uid) {
      const own = kind.namespaced ? key : { namespace: "", name: key.name };
      for (const informer of pool.informers(kind)) {
        if (concerns(informer.kind, kind, written)) informer.overlay(own, written, uid);
      }
    },
    informers: pool.informers,
    budget: () => createBudget(undefined, usage),
    stop: pool.stop,
  };
}

/** False where the object is of another version than the watched ones, or of a subresource such as Scale. */
function concerns(watched: Kind, kind: Kind, written: KubeObject | "deleted"): boolean {
  return written === "deleted" || (watched.version === kind.version && written.kind === kind.kind);
}
