/** What a controller waits to see in the cache before it acts again. */
import type { Clock } from "../clock.ts";

/** After that a missing event is taken as lost; as in Kubernetes' own controllers. CORE-187. */
const EXPIRE_AFTER_MS = 5 * 60_000;

/** Numbers of created and deleted objects. */
export interface Counts {
  readonly adds?: number;
  readonly dels?: number;
}

/**
 * Guards against creating twice. Before a controller creates or deletes the objects of a key it says how many; until
 * the watch has shown as many, `satisfied` is false and it must not create more.
 */
export interface Expectations {
  /** Adds to what is awaited for the key, and starts its time limit anew. Call before the writes. */
  expect(key: string, counts: Counts): void;
  /** Lowers it: by events that were observed, and by writes that failed. */
  observed(key: string, counts: Counts): void;
  /** True when nothing is awaited any more, or for too long. */
  satisfied(key: string): boolean;
  /** Call when the key's object is gone. */
  forget(key: string): void;
  /** Keys for which something is awaited. */
  readonly size: number;
}

export function createExpectations(clock: Clock): Expectations {
  const awaited = new Map<string, { adds: number; dels: number; since: number }>();

  return {
    expect(key, { adds = 0, dels = 0 }) {
      const before = awaited.get(key);
      const live = before !== undefined && !isOver(before.since) ? before : { adds: 0, dels: 0 };
      const next = { adds: live.adds + adds, dels: live.dels + dels, since: clock.monotonic() };
      if (next.adds > 0 || next.dels > 0) awaited.set(key, next);
    },
    observed(key, { adds = 0, dels = 0 }) {
      const entry = awaited.get(key);
      if (entry === undefined) return;
      entry.adds = Math.max(0, entry.adds - adds);
      entry.dels = Math.max(0, entry.dels - dels);
      if (entry.adds === 0 && entry.dels === 0) awaited.delete(key);
    },
    satisfied(key) {
      const entry = awaited.get(key);
      if (entry === undefined) return true;
      if (!isOver(entry.since)) return false;
      awaited.delete(key);
      return true;
    },
    forget: (key) => void awaited.delete(key),
    get size() {
      return awaited.size;
    },
  };

  function isOver(since: number): boolean {
    return clock.monotonic() - since > EXPIRE_AFTER_MS;
  }
}
