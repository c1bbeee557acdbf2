/** Workers of a controller: they take items from the queue, run so many at a time, and can be paused and drained. */
import type { Clock } from "../clock.ts";
import type { WorkQueue } from "../queue/queue.ts";
import type { QueueItem } from "../queue/types.ts";

/**
 * Longest stretch of JavaScript that workers may fill before timers and sockets get their turn: lease renewals and
 * other controllers share the thread (CORE-211).
 */
const SLICE_MS = 10;

export interface WorkersOptions {
  /** Items that may run at once. */
  count: number;
  queue: WorkQueue;
  clock: Clock;
  /** Runs one item; must not throw. */
  run: (item: QueueItem) => Promise<void>;
  /** Told how many items run now. */
  onActive: (active: number) => void;
}

export interface Workers {
  /** Takes items from now on, while not paused. */
  start(): void;
  resume(): void;
  /** Takes nothing more until {@link Workers.resume}; what runs goes on. */
  pause(): void;
  /** Takes nothing more, ever. */
  close(): void;
  /** Resolves when the workers are closed and nothing runs any more. */
  readonly ended: Promise<unknown>;
  /** Waits until nothing runs, at most `ms` milliseconds; negative waits for ever. True when nothing runs any more. */
  drain(ms: number): Promise<boolean>;
  /** Changes how many items may run at once; running ones end as usual. */
  setCount(count: number): void;
  /** Keys that run now. */
  running(): readonly string[];
}

/** Workers take nothing before `start`, and are paused until the first `resume`. */
export function createWorkers(options: WorkersOptions): Workers {
  const { queue, clock } = options;
  const running = new Set<string>();
  const idle = idleGate(clock, () => running.size === 0);
  const ended = Promise.withResolvers<unknown>();
  let { count } = options;
  let started = false;
  let paused = true;
  let closed = false;

  const takeOne = (): boolean => {
    if (!started || paused || closed || running.size >= count) return false;
    const item = queue.take();
    if (item !== undefined) void work(item);
    return item !== undefined;
  };
  const takeAll = inSlices(clock, takeOne);
  const work = async (item: QueueItem): Promise<void> => {
    running.add(item.key);
    options.onActive(running.size);
    try {
      await options.run(item);
    } finally {
      running.delete(item.key);
      options.onActive(running.size);
      queue.done(item.key);
      takeAll();
      if (running.size === 0) idle.open();
    }
  };
  queue.onReady(takeAll);

  return {
    start() {
      started = true;
      takeAll();
    },
    resume() {
      paused = false;
      takeAll();
    },
    pause() {
      paused = true;
    },
    close() {
      closed = true;
      ended.resolve(idle.wait(-1));
    },
    ended: ended.promise,
    drain: idle.wait,
    setCount(next) {
      count = next;
      takeAll();
    },
    running: () => [...running],
  };
}

/** Lets those wait who need nothing to run. */
function idleGate(clock: Clock, isIdle: () => boolean): { open(): void; wait(ms: number): Promise<boolean> } {
  const waiting = new Set<() => void>();
  return {
    open() {
      for (const proceed of [...waiting]) proceed();
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const finish = (idle: boolean): void => {
          waiting.delete(proceed);
          cancel();
          resolve(idle);
        };
        const proceed = (): void => finish(true);
        const cancel = ms < 0 ? () => {} : clock.setTimer(ms, () => finish(false));
        waiting.add(proceed);
        if (isIdle()) proceed();
      }),
  };
}

/**
 * A function that soon repeats `step` until that is false: at once while the running slice lasts, then after the event
 * loop had its turn.
 */
function inSlices(clock: Clock, step: () => boolean): () => void {
  let sliceEnd = clock.monotonic() + SLICE_MS;
  let scheduled = false;
  const isOver = (): boolean => clock.monotonic() >= sliceEnd;
  const run = (): void => {
    scheduled = false;
    while (!isOver()) if (!step()) return;
    schedule();
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    if (!isOver()) {
      queueMicrotask(run);
      return;
    }
    setImmediate(() => {
      sliceEnd = clock.monotonic() + SLICE_MS;
      run();
    });
  };
  return schedule;
}
