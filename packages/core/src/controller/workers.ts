/** Workers of a controller: they take keys from the queue, run them, and can be paused and drained. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { WorkQueue } from "../queue/queue.ts";
import type { QueueItem } from "../queue/types.ts";

/**
 * Longest stretch of JavaScript that workers may fill before timers and sockets get their turn: lease renewals and
 * other controllers share the thread (CORE-211).
 */
const YIELD_AFTER_MS = 10;

export interface WorkersOptions {
  count: number;
  queue: WorkQueue;
  clock: Clock;
  /** Runs one item; must not throw. */
  run: (item: QueueItem) => Promise<void>;
  onActive: (active: number) => void;
}

export interface Workers {
  /** Runs until the queue is shut down and the last item is done. */
  run(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Waits until nothing runs, at most `ms` milliseconds; negative waits for ever. True when nothing runs any more. */
  drain(ms: number): Promise<boolean>;
  /** Keys that run now. */
  running(): readonly string[];
}

/** Workers are paused until the first `resume`. */
export function createWorkers(options: WorkersOptions): Workers {
  const { queue, clock } = options;
  const running = new Set<string>();
  const idleListeners = new Set<() => void>();
  let resumed = Promise.withResolvers<void>();
  let paused = true;
  let yieldedAt = clock.monotonic();

  const work = async (item: QueueItem): Promise<void> => {
    running.add(item.key);
    options.onActive(running.size);
    try {
      await options.run(item);
    } finally {
      running.delete(item.key);
      options.onActive(running.size);
      queue.done(item.key);
      if (running.size === 0) for (const listener of idleListeners) listener();
    }
  };

  const loop = async (): Promise<void> => {
    for (;;) {
      const item = await queue.get();
      if (item === undefined) return;
      if (paused) {
        // Taken while the caches are not whole: back into the queue, and wait.
        queue.add(item.key, { priority: item.priority });
        queue.done(item.key);
        await resumed.promise;
        continue;
      }
      await work(item);
      if (clock.monotonic() - yieldedAt >= YIELD_AFTER_MS) {
        await setImmediate();
        yieldedAt = clock.monotonic();
      }
    }
  };

  return {
    async run() {
      await resumed.promise;
      await Promise.all(Array.from({ length: options.count }, loop));
    },
    pause() {
      if (paused) return;
      paused = true;
      resumed = Promise.withResolvers<void>();
    },
    resume() {
      paused = false;
      resumed.resolve();
    },
    drain(ms) {
      // Whoever waits for the caches must see that the queue is shut down.
      resumed.resolve();
      if (running.size === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const finish = (done: boolean): void => {
          idleListeners.delete(onIdle);
          cancel();
          resolve(done);
        };
        const onIdle = (): void => finish(true);
        const cancel = ms < 0 ? () => {} : clock.setTimer(ms, () => finish(false));
        idleListeners.add(onIdle);
      });
    },
    running: () => [...running],
  };
}
