/** Priority work queue with deduplication, delays and aging. */
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import { createHeap, type Heap } from "./heap.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate-limiter.ts";
import { type AddOptions, DEFAULT_PRIORITY, type Queue, type QueueItem } from "./types.ts";

/**
 * Every so many picks the item that has been ready longest is taken, whatever its priority: initial items are reached
 * even under a flood of live changes (CORE-205).
 */
const AGING_INTERVAL = 8;

/** What happens in a queue, for metrics. Durations in seconds. */
export interface QueueObserver {
  /** An item became ready. */
  onAdd?(): void;
  /** A delayed add. */
  onRetry?(): void;
  /** Number of ready items of a priority. */
  onDepth?(priority: number, depth: number): void;
  /** An item was handed out after so long a wait. */
  onGet?(waited: number): void;
  /** An item was worked on for so long. */
  onDone?(worked: number): void;
}

export interface QueueOptions {
  /** For log lines. */
  name: string;
  clock: Clock;
  log?: Logger;
  rateLimiter?: RateLimiter;
  observer?: QueueObserver;
}

/** A queue that also tells what is being worked on, for the gauges of unfinished work. */
export interface WorkQueue extends Queue {
  /** Milliseconds that each running key has been running. */
  runningFor(): readonly number[];
}

/** All that is known of a key; it is dropped when the key is neither ready, waiting nor running. */
interface Entry {
  key: string;
  priority: number;
  /** Order among entries of equal priority. */
  sequence: number;
  /** Milliseconds (monotonic) since which it is ready; undefined while it is not. */
  readySince: number | undefined;
  /** Milliseconds (monotonic) at which a delayed add is due; undefined without one. */
  dueAt: number | undefined;
  /** Milliseconds (monotonic) since which it runs; undefined while it does not. */
  runningSince: number | undefined;
  /** Added while running: ready again when it is done. */
  again: { priority: number; since: number } | undefined;
  /** Places in the heaps. */
  byPriority: number;
  byAge: number;
  byDue: number;
}

export function createQueue(options: QueueOptions): WorkQueue {
  const { clock, observer } = options;
  const limiter = options.rateLimiter ?? defaultRateLimiter(clock);
  const entries = new Map<string, Entry>();
  const ready = heapOf("byPriority", (a, b) => a.priority - b.priority || b.sequence - a.sequence);
  const oldest = heapOf("byAge", (a, b) => b.readySince! - a.readySince! || b.sequence - a.sequence);
  const due = heapOf("byDue", (a, b) => b.dueAt! - a.dueAt! || b.sequence - a.sequence);
  const depths = new Map<number, number>();
  const idle: ((item: QueueItem | undefined) => void)[] = [];
  let sequence = 0;
  let picks = 0;
  let stopped = false;
  let timer: { at: number; cancel: () => void } | undefined;

  const entryOf = (key: string): Entry => {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = {
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
      entries.set(key, entry);
    }
    return entry;
  };

  const count = (priority: number, by: number): void => {
    const depth = (depths.get(priority) ?? 0) + by;
    if (depth === 0) depths.delete(priority);
    else depths.set(priority, depth);
    observer?.onDepth?.(priority, depth);
  };

  const makeReady = (entry: Entry, priority: number, since: number): void => {
    entry.priority = priority;
    entry.readySince = since;
    sequence += 1;
    entry.sequence = sequence;
    ready.push(entry);
    oldest.push(entry);
    count(priority, 1);
    observer?.onAdd?.();
    handOut();
  };

  const takeFromReady = (entry: Entry): void => {
    ready.remove(entry);
    oldest.remove(entry);
    count(entry.priority, -1);
  };

  const raise = (entry: Entry, priority: number): void => {
    if (priority <= entry.priority) return;
    takeFromReady(entry);
    entry.priority = priority;
    sequence += 1;
    entry.sequence = sequence;
    ready.push(entry);
    oldest.push(entry);
    count(priority, 1);
  };

  const stopWaiting = (entry: Entry): void => {
    due.remove(entry);
    entry.dueAt = undefined;
  };

  /** An add at `since`, the moment at which the key would have been ready. */
  const addAt = (key: string, priority: number | undefined, since: number): void => {
    const entry = entryOf(key);
    if (entry.runningSince !== undefined) {
      const wanted = Math.max(
        priority ?? DEFAULT_PRIORITY,
        entry.again?.priority ?? Number.NEGATIVE_INFINITY,
      );
      entry.again = { priority: wanted, since: Math.min(since, entry.again?.since ?? since) };
      return;
    }
    if (entry.readySince !== undefined) {
      raise(entry, priority ?? DEFAULT_PRIORITY);
      return;
    }
    const waiting = entry.dueAt !== undefined;
    const wanted = priority ?? DEFAULT_PRIORITY;
    const effective = waiting ? Math.max(wanted, entry.priority) : wanted;
    if (waiting) stopWaiting(entry);
    makeReady(entry, effective, since);
    schedule();
  };

  const addLater = (key: string, ms: number, priority: number): void => {
    const entry = entryOf(key);
    const at = clock.monotonic() + ms;
    if (entry.readySince !== undefined) {
      raise(entry, priority);
      return;
    }
    const known = entry.dueAt;
    if (known === undefined) {
      // The priority of a running entry is the one of its run; the delayed add brings its own.
      entry.priority = entry.runningSince === undefined ? priority : Math.max(priority, entry.priority);
    } else {
      entry.priority = Math.max(priority, entry.priority);
      if (known <= at) return;
      due.remove(entry);
    }
    sequence += 1;
    entry.sequence = sequence;
    entry.dueAt = at;
    due.push(entry);
    schedule();
  };

  const releaseDue = (): void => {
    timer = undefined;
    const now = clock.monotonic();
    for (let entry = due.peek(); entry !== undefined && entry.dueAt! <= now; entry = due.peek()) {
      const since = entry.dueAt!;
      stopWaiting(entry);
      addAt(entry.key, entry.priority, since);
    }
    schedule();
  };

  const schedule = (): void => {
    const next = due.peek()?.dueAt;
    if (timer !== undefined && timer.at === next) return;
    timer?.cancel();
    timer = undefined;
    if (next === undefined || stopped) return;
    timer = { at: next, cancel: clock.setTimer(Math.max(0, next - clock.monotonic()), releaseDue) };
  };

  const pick = (): QueueItem | undefined => {
    if (ready.size === 0) return undefined;
    picks += 1;
    const entry = (picks % AGING_INTERVAL === 0 ? oldest.peek() : ready.peek())!;
    takeFromReady(entry);
    const readySince = entry.readySince!;
    entry.readySince = undefined;
    entry.runningSince = clock.monotonic();
    observer?.onGet?.((entry.runningSince - readySince) / 1000);
    return { key: entry.key, priority: entry.priority, attempt: limiter.failures(entry.key), readySince };
  };

  const handOut = (): void => {
    while (idle.length > 0 && ready.size > 0) idle.shift()!(pick());
  };

  const checked = (ms: number): number => {
    if (ms >= 0) return ms;
    options.log?.warn("invalid delay taken as 0", { queue: options.name, delay: String(ms) });
    return 0;
  };

  const addAfter = (key: string, ms: number, add: AddOptions = {}): void => {
    if (stopped) return;
    const delay = checked(ms);
    observer?.onRetry?.();
    if (delay === 0) addAt(key, add.priority, clock.monotonic());
    else addLater(key, delay, add.priority ?? DEFAULT_PRIORITY);
  };

  return {
    add(key, add = {}) {
      if (!stopped) addAt(key, add.priority, clock.monotonic());
    },
    addAfter,
    addRateLimited(key, add) {
      if (!stopped) addAfter(key, limiter.delayFor(key), add);
    },
    forget: (key) => limiter.forget(key),
    get() {
      if (stopped) return Promise.resolve(undefined);
      const item = pick();
      return item === undefined ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve(item);
    },
    done(key) {
      const entry = entries.get(key);
      if (entry?.runningSince === undefined) return;
      observer?.onDone?.((clock.monotonic() - entry.runningSince) / 1000);
      entry.runningSince = undefined;
      const { again } = entry;
      entry.again = undefined;
      if (again !== undefined && !stopped) {
        if (entry.dueAt !== undefined) stopWaiting(entry);
        makeReady(entry, again.priority, again.since);
      }
      const free =
        entry.readySince === undefined && entry.dueAt === undefined && entry.runningSince === undefined;
      if (free) entries.delete(key);
    },
    get length() {
      return ready.size;
    },
    inspect(key) {
      const entry = entries.get(key);
      const attempt = limiter.failures(key);
      if (entry === undefined) return { state: "absent", attempt };
      if (entry.runningSince !== undefined) return { state: "running", attempt };
      if (entry.readySince !== undefined) return { state: "ready", attempt };
      return { state: "waiting", attempt, dueInMs: Math.max(0, entry.dueAt! - clock.monotonic()) };
    },
    runningFor() {
      const now = clock.monotonic();
      return [...entries.values()].flatMap((entry) =>
        entry.runningSince === undefined ? [] : [now - entry.runningSince],
      );
    },
    shutDown() {
      stopped = true;
      timer?.cancel();
      for (const entry of [...entries.values()]) {
        if (entry.readySince !== undefined) takeFromReady(entry);
        if (entry.runningSince === undefined) entries.delete(entry.key);
        else entry.again = undefined;
      }
      for (const resolve of idle.splice(0)) resolve(undefined);
    },
  };
}

/** Heap of entries in which the larger by `compare` comes first. */
function heapOf(
  place: "byPriority" | "byAge" | "byDue",
  compare: (a: Entry, b: Entry) => number,
): Heap<Entry> {
  return createHeap<Entry>((a, b) => compare(a, b) > 0, {
    get: (entry) => entry[place],
    set: (entry, index) => {
      entry[place] = index;
    },
  });
}
