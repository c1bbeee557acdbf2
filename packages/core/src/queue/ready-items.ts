/** The ready items of a queue: the most urgent one first, and now and then the one that has been ready longest. */
import { type Entry, entryHeap } from "./entry.ts";

/**
 * Every so many picks the item that has been ready longest is taken, whatever its priority: initial items are reached
 * even under a flood of live changes (CORE-205).
 */
const AGING_INTERVAL = 8;

export interface ReadyItems {
  readonly size: number;
  /** Makes an entry ready, last among those of its priority. */
  add(entry: Entry, priority: number, since: number): void;
  /** Raises a ready entry to a higher priority, last among its new peers; a lower one changes nothing. */
  raise(entry: Entry, priority: number): void;
  /** The next entry and since when it was ready; it is not ready any more. */
  pick(): { entry: Entry; since: number } | undefined;
  remove(entry: Entry): void;
}

/** @param onDepth told of the number of ready items of a priority whenever it changes */
export function createReadyItems(onDepth: (priority: number, depth: number) => void): ReadyItems {
  const urgent = entryHeap("byPriority", (a, b) => b.priority - a.priority || a.sequence - b.sequence);
  const oldest = entryHeap("byAge", (a, b) => a.readySince! - b.readySince! || a.sequence - b.sequence);
  const depths = new Map<number, number>();
  let sequence = 0;
  let picks = 0;

  const count = (priority: number, by: number): void => {
    const depth = (depths.get(priority) ?? 0) + by;
    if (depth === 0) depths.delete(priority);
    else depths.set(priority, depth);
    onDepth(priority, depth);
  };
  const add: ReadyItems["add"] = (entry, priority, since) => {
    sequence += 1;
    entry.sequence = sequence;
    entry.priority = priority;
    entry.readySince = since;
    urgent.push(entry);
    oldest.push(entry);
    count(priority, 1);
  };
  const remove = (entry: Entry): void => {
    urgent.remove(entry);
    oldest.remove(entry);
    count(entry.priority, -1);
    entry.readySince = undefined;
  };

  return {
    get size() {
      return urgent.size;
    },
    add,
    raise(entry, priority) {
      if (priority <= entry.priority) return;
      const since = entry.readySince!;
      remove(entry);
      add(entry, priority, since);
    },
    pick() {
      if (urgent.size === 0) return undefined;
      picks += 1;
      const entry = (picks % AGING_INTERVAL === 0 ? oldest : urgent).peek()!;
      const since = entry.readySince!;
      remove(entry);
      return { entry, since };
    },
    remove,
  };
}
