/** Runs a reconcile function per key: one run of a key at a time, again when it was asked for meanwhile. */

export interface Worker {
  add(key: string): void;
  /** Asks for a run later, ms. */
  addAfter(key: string, ms: number): void;
  stop(): void;
}

/** Pause before a failed key is tried again, ms. */
const RETRY_MS = 50;

export function createWorker(reconcile: (key: string) => Promise<void>): Worker {
  const running = new Set<string>();
  const again = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;

  const addAfter = (key: string, ms: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      add(key);
    }, ms);
    timers.add(timer);
  };
  const run = async (key: string): Promise<void> => {
    try {
      await reconcile(key);
    } catch {
      // conflicts and vanished objects: the next run sees the newer state
      if (!stopped) addAfter(key, RETRY_MS);
    }
    running.delete(key);
    if (again.delete(key)) add(key);
  };
  const add = (key: string): void => {
    if (stopped) return;
    if (running.has(key)) {
      again.add(key);
      return;
    }
    running.add(key);
    // changes that arrive together make one run
    setImmediate(() => void run(key));
  };
  return {
    add,
    addAfter,
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
