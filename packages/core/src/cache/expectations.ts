/** What a controller waits to see in the cache before it acts again. */
import type { Clock } from "../clock.ts";

/** After that a missing event is taken as lost; as in Kubernetes' own controllers. CORE-187. */
const EXPIRE_AFTER_MS = 5 * 60_000;

/**
 * Guards against creating or deleting twice. Before a controller creates or deletes the objects of a key it says so;
 * until the watch has shown it, `satisfied` is false and it must do no more. Deletions are told apart by UID: events of
 * objects that nobody expected to go, and repeats, count for nothing.
 */
export interface Expectations {
  /** Awaits so many more objects, and starts the key's time limit anew. Call before the creates. */
  expectCreations(key: string, count: number): void;
  /** Awaits the end of these objects, and starts the key's time limit anew. Call before the deletes. */
  expectDeletions(key: string, uids: Iterable<string>): void;
  /** An object was seen, or could not be created. */
  created(key: string, count?: number): void;
  /** An object was seen to go or to be going, or could not be deleted. */
  deleted(key: string, uid: string): void;
  /** True when nothing is awaited any more, or for too long. */
  satisfied(key: string): boolean;
  /** Call when the key's object is gone. */
  forget(key: string): void;
  /** Keys for which something is awaited. */
  readonly size: number;
}

interface Awaited {
  creations: number;
  readonly deletions: Set<string>;
  since: number;
}

export function createExpectations(clock: Clock): Expectations {
  const awaited = new Map<string, Awaited>();
  const isOver = ({ since }: Awaited): boolean => clock.monotonic() - since > EXPIRE_AFTER_MS;
  const open = (key: string): Awaited => {
    const before = awaited.get(key);
    const entry =
      before !== undefined && !isOver(before)
        ? before
        : { creations: 0, deletions: new Set<string>(), since: 0 };
    entry.since = clock.monotonic();
    awaited.set(key, entry);
    return entry;
  };
  const lower = (key: string, change: (entry: Awaited) => void): void => {
    const entry = awaited.get(key);
    if (entry === undefined) return;
    change(entry);
    if (entry.creations === 0 && entry.deletions.size === 0) awaited.delete(key);
  };

  return {
    expectCreations(key, count) {
      if (count > 0) open(key).creations += count;
    },
    expectDeletions(key, uids) {
      for (const uid of uids) open(key).deletions.add(uid);
    },
    created(key, count = 1) {
      lower(key, (entry) => {
        entry.creations = Math.max(0, entry.creations - count);
      });
    },
    deleted(key, uid) {
      lower(key, (entry) => void entry.deletions.delete(uid));
    },
    satisfied(key) {
      const entry = awaited.get(key);
      if (entry === undefined) return true;
      if (!isOver(entry)) return false;
      awaited.delete(key);
      return true;
    },
    forget: (key) => void awaited.delete(key),
    get size() {
      return awaited.size;
    },
  };
}
