/** Priority work queue with deduplication, delays and aging. */
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import { createDelays, type Delays } from "./delays.ts";
import { createEntry, type Entry } from "./entry.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate-limiter.ts";
import { createReadyItems, type ReadyItems } from "./ready-items.ts";
import { type AddOptions, DEFAULT_PRIORITY, type Queue, type QueueItem } from "./types.ts";

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
  /** Delays of failed keys. Default: {@link defaultRateLimiter}. */
  rateLimiter?: RateLimiter;
  observer?: QueueObserver;
}

/** A queue as its controller sees it. */
export interface WorkQueue extends Queue {
  /** Like `get`, without waiting: the next item if one is ready. */
  take(): QueueItem | undefined;
  /** Calls `listener` whenever an item is ready and nobody waits in `get` for it. There is one listener at most. */
  onReady(listener: () => void): void;
  /** Milliseconds that each running key has been running. */
  runningFor(): readonly number[];
}

interface State {
  readonly options: QueueOptions;
  readonly limiter: RateLimiter;
  readonly entries: Map<string, Entry>;
  readonly ready: ReadyItems;
  readonly delays: Delays;
  /** Callers of `get` that nothing was ready for. */
  readonly waiting: ((item: QueueItem | undefined) => void)[];
  onReady: (() => void) | undefined;
  stopped: boolean;
}

export function createQueue(options: QueueOptions): WorkQueue {
  const { clock, observer } = options;
  const state: State = {
    options,
    limiter: options.rateLimiter ?? defaultRateLimiter(clock),
    entries: new Map(),
    ready: createReadyItems((priority, depth) => observer?.onDepth?.(priority, depth)),
    delays: createDelays(clock, (entry, at) => addAt(state, entry, entry.priority, at)),
    waiting: [],
    onReady: undefined,
    stopped: false,
  };
  const addAfter = (key: string, ms: number, add: AddOptions = {}): void => {
    if (state.stopped) return;
    observer?.onRetry?.();
    addLater(state, entryOf(state, key), add.priority ?? DEFAULT_PRIORITY, checkedDelay(state, ms));
  };

  return {
    add(key, { priority = DEFAULT_PRIORITY } = {}) {
      if (!state.stopped) addAt(state, entryOf(state, key), priority, clock.monotonic());
    },
    addAfter,
    addRateLimited(key, add) {
      if (!state.stopped) addAfter(key, state.limiter.delayFor(key), add);
    },
    forget: (key) => state.limiter.forget(key),
    get() {
      const item = take(state);
      if (item !== undefined || state.stopped) return Promise.resolve(item);
      return new Promise((resolve) => state.waiting.push(resolve));
    },
    take: () => take(state),
    onReady(listener) {
      state.onReady = listener;
    },
    done: (key) => done(state, key),
    get length() {
      return state.ready.size;
    },
    inspect: (key) => inspect(state, key),
    runningFor() {
      const now = clock.monotonic();
      const running = [...state.entries.values()].filter((entry) => entry.runningSince !== undefined);
      return running.map((entry) => now - entry.runningSince!);
    },
    shutDown: () => shutDown(state),
  };
}

function entryOf({ entries }: State, key: string): Entry {
  let entry = entries.get(key);
  if (entry === undefined) {
    entry = createEntry(key);
    entries.set(key, entry);
  }
  return entry;
}

/** An immediate add; `since` is the moment at which the key would have been ready. */
function addAt(state: State, entry: Entry, priority: number, since: number): void {
  if (entry.runningSince !== undefined) {
    const { again } = entry;
    entry.again = {
      priority: Math.max(priority, again?.priority ?? priority),
      since: Math.min(since, again?.since ?? since),
    };
  } else if (entry.readySince !== undefined) {
    state.ready.raise(entry, priority);
  } else {
    makeReady(state, entry, priority, since);
  }
}

function addLater(state: State, entry: Entry, priority: number, ms: number): void {
  const { clock } = state.options;
  if (ms === 0) {
    addAt(state, entry, priority, clock.monotonic());
  } else if (entry.readySince !== undefined) {
    state.ready.raise(entry, priority);
  } else {
    entry.priority = entry.dueAt === undefined ? priority : Math.max(priority, entry.priority);
    state.delays.set(entry, clock.monotonic() + ms);
  }
}

/** Makes an entry ready that does not run. A wait ends with it, and leaves its priority behind if that was higher. */
function makeReady(state: State, entry: Entry, priority: number, since: number): void {
  const wanted = entry.dueAt === undefined ? priority : Math.max(priority, entry.priority);
  state.delays.cancel(entry);
  state.ready.add(entry, wanted, since);
  state.options.observer?.onAdd?.();
  const next = state.waiting.shift();
  if (next === undefined) state.onReady?.();
  else next(take(state));
}

function take(state: State): QueueItem | undefined {
  const { options, limiter, ready } = state;
  const picked = ready.pick();
  if (picked === undefined) return undefined;
  const { entry, since } = picked;
  entry.runningSince = options.clock.monotonic();
  options.observer?.onGet?.((entry.runningSince - since) / 1000);
  return {
    key: entry.key,
    priority: entry.priority,
    attempt: limiter.failures(entry.key),
    readySince: since,
  };
}

function done(state: State, key: string): void {
  const { options, entries, stopped } = state;
  const entry = entries.get(key);
  if (entry?.runningSince === undefined) return;
  options.observer?.onDone?.((options.clock.monotonic() - entry.runningSince) / 1000);
  entry.runningSince = undefined;
  const { again } = entry;
  entry.again = undefined;
  if (again !== undefined && !stopped) makeReady(state, entry, again.priority, again.since);
  else if (entry.dueAt === undefined) entries.delete(key);
}

function inspect({ entries, limiter, options }: State, key: string): ReturnType<Queue["inspect"]> {
  const entry = entries.get(key);
  const attempt = limiter.failures(key);
  if (entry === undefined) return { state: "absent", attempt };
  if (entry.runningSince !== undefined) return { state: "running", attempt };
  if (entry.readySince !== undefined) return { state: "ready", attempt };
  return { state: "waiting", attempt, dueInMs: Math.max(0, entry.dueAt! - options.clock.monotonic()) };
}

function shutDown(state: State): void {
  const { entries, ready, delays, waiting } = state;
  state.stopped = true;
  delays.stop();
  for (const entry of [...entries.values()]) {
    if (entry.readySince !== undefined) ready.remove(entry);
    entry.dueAt = undefined;
    entry.again = undefined;
    if (entry.runningSince === undefined) entries.delete(entry.key);
  }
  for (const resolve of waiting.splice(0)) resolve(undefined);
}

/** A delay that makes no sense is 0: the key is not lost. */
function checkedDelay({ options }: State, ms: number): number {
  if (ms >= 0) return ms;
  options.log?.warn("invalid delay taken as 0", { queue: options.name, delay: String(ms) });
  return 0;
}
