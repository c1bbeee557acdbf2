/** What a queue knows of a key. */
import { createHeap, type Heap } from "./heap.ts";
import { DEFAULT_PRIORITY } from "./types.ts";

/** A key is ready, waits for its time, or runs; while it runs it may also wait. An entry that is none of it is dropped. */
export interface Entry {
  readonly key: string;
  /** Priority of the ready item, or of the delayed add. */
  priority: number;
  /** Order among entries that are otherwise equal. */
  sequence: number;
  /** Milliseconds (monotonic) since which it is ready; undefined while it is not. */
  readySince: number | undefined;
  /** Milliseconds (monotonic) at which a delayed add is due; undefined without one. */
  dueAt: number | undefined;
  /** Milliseconds (monotonic) since which it runs; undefined while it does not. */
  runningSince: number | undefined;
  /** Added while it ran: ready again when it is done. */
  again: { priority: number; since: number } | undefined;
  /** Places in the heaps. */
  byPriority: number;
  byAge: number;
  byDue: number;
}

/** Entry of a key of which nothing is known yet. */
export function createEntry(key: string): Entry {
  return {
    key,
    priority: DEFAULT_PRIORITY,
    sequence: 0,
    readySince: undefined,
    dueAt: undefined,
    runningSince: undefined,
    again: undefined,
    byPriority: -1,
    byAge: -1,
    byDue: -1,
  };
}

/** Heap of entries, the least by `compare` first. */
export function entryHeap(
  place: "byPriority" | "byAge" | "byDue",
  compare: (a: Entry, b: Entry) => number,
): Heap<Entry> {
  return createHeap<Entry>((a, b) => compare(a, b) < 0, {
    get: (entry) => entry[place],
    set: (entry, index) => {
      entry[place] = index;
    },
  });
}
