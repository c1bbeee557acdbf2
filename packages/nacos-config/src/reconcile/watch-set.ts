/**
 * Watches of single objects and small selections that resources refer to: nothing else of their kinds is held in
 * memory, and a change reaches exactly the resources that refer to it.
 */
import {
  type Cache,
  type CacheEvent,
  type Clock,
  type DeepReadonly,
  type Informer,
  type InformerOptions,
  type Kind,
  type KubeObject,
  keyToString,
  type ObjectKey,
  parseKey,
} from "@quartet/core";

/** Limit for the first sync of a watch, in milliseconds; a source that cannot be read must not hold up a pass. */
const SYNC_TIMEOUT_MS = 10_000;

/** What a resource wants to hear of. */
export interface Interest<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly options: InformerOptions<T>;
  /** Wait before a change queues the resource, so that edits in a row make one pass. Milliseconds. */
  readonly delayMs: number;
}

/** Interest in one object. */
export function interestIn<T extends KubeObject>(
  kind: Kind<T>,
  key: ObjectKey,
  delayMs: number,
  projection?: InformerOptions<T>["projection"],
): Interest<T> {
  return {
    kind,
    delayMs,
    options: {
      namespaces: [key.namespace],
      fieldSelector: `metadata.name=${key.name}`,
      ...(projection === undefined ? {} : { projection }),
    },
  };
}

/** Queues a resource after some milliseconds. */
export type EnqueueLater = (key: ObjectKey, delayMs: number) => void;

export interface WatchSet {
  /** Sets what a resource is interested in; what nobody is interested in any more is no longer watched. */
  follow(resource: ObjectKey, interests: readonly Interest[], signal: AbortSignal): Promise<void>;
  /** Everything that an interest covers now; `undefined` when it cannot be read. */
  read<T extends KubeObject>(interest: Interest<T>): readonly DeepReadonly<T>[] | undefined;
  /**
   * Milliseconds until the news of a resource may be acted on; 0 when there is none. The first of several edits in a row
   * opens the time, so that edits without end hold up nothing.
   */
  unsettled(resource: ObjectKey): number;
  /** Ends all interests of a resource. */
  forget(resource: ObjectKey): void;
  /** Number of watches that run. */
  readonly size: number;
}

interface Watch {
  readonly informer: Informer;
  /** Interested resources. */
  readonly owners: Map<string, number>;
  readonly removeHandler: () => void;
}

/** An empty set. */
export function createWatchSet(
  cache: Pick<Cache, "informer" | "release">,
  clock: Clock,
  enqueue: EnqueueLater,
): WatchSet {
  const watches = new Map<string, Watch>();
  const followed = new Map<string, Set<string>>();
  /** When the news of a resource may be acted on, by the monotonic clock. */
  const settles = new Map<string, number>();

  const tell = (owner: string, delayMs: number): void => {
    const now = clock.monotonic();
    const open = settles.get(owner) ?? 0;
    if (delayMs > 0 && open <= now) settles.set(owner, now + delayMs);
    enqueue(parseKey(owner), delayMs);
  };

  const start = (interest: Interest): Watch => {
    const informer = cache.informer(interest.kind, interest.options);
    const owners = new Map<string, number>();
    const removeHandler = informer.addHandler((event) => {
      if (!isNews(event)) return;
      for (const [owner, delayMs] of owners) tell(owner, delayMs);
    });
    return { informer, owners, removeHandler };
  };

  const leave = (owner: string, id: string): void => {
    const watch = watches.get(id);
    watch?.owners.delete(owner);
    if (watch === undefined || watch.owners.size > 0) return;
    watches.delete(id);
    watch.removeHandler();
    cache.release(watch.informer);
  };

  return {
    async follow(resource, interests, signal) {
      const owner = keyToString(resource);
      const before = followed.get(owner) ?? new Set();
      const wanted = new Map(interests.map((interest) => [idOf(interest), interest]));
      const waits: Promise<void>[] = [];
      for (const [id, interest] of wanted) {
        const watch = watches.get(id) ?? start(interest);
        watches.set(id, watch);
        watch.owners.set(owner, interest.delayMs);
        if (!watch.informer.hasSynced()) waits.push(firstSync(watch.informer, signal));
      }
      for (const id of before) if (!wanted.has(id)) leave(owner, id);
      if (wanted.size > 0) followed.set(owner, new Set(wanted.keys()));
      else followed.delete(owner);
      await Promise.all(waits);
      signal.throwIfAborted();
    },
    read<T extends KubeObject>(interest: Interest<T>) {
      const watch = watches.get(idOf(interest));
      return watch?.informer.hasSynced() ? (watch.informer as unknown as Informer<T>).list() : undefined;
    },
    unsettled(resource) {
      const owner = keyToString(resource);
      const left = (settles.get(owner) ?? 0) - clock.monotonic();
      if (left > 0) return left;
      settles.delete(owner);
      return 0;
    },
    forget(resource) {
      const owner = keyToString(resource);
      settles.delete(owner);
      for (const id of followed.get(owner) ?? []) leave(owner, id);
      followed.delete(owner);
    },
    get size() {
      return watches.size;
    },
  };
}

/** The first list is read by the pass that asked for it, and a resync tells nothing new. */
function isNews(event: CacheEvent): boolean {
  if (event.type === "add") return !event.initial;
  return event.type !== "update" || !event.resync;
}

async function firstSync(informer: Informer, signal: AbortSignal): Promise<void> {
  try {
    await informer.synced(AbortSignal.any([signal, AbortSignal.timeout(SYNC_TIMEOUT_MS)]));
  } catch {
    // Reading it will say that it cannot be read; a pass that was aborted ends below.
  }
}

function idOf({ kind, options }: Interest): string {
  const { namespaces = [], labelSelector = "", fieldSelector = "" } = options;
  return JSON.stringify([kind.group, kind.plural, namespaces, labelSelector, fieldSelector]);
}
