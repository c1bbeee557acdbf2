/** Time of a double: runs with the machine, and can be moved forward by a test. */

export interface ServerClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `action` once after `ms` of the double's time; the returned function takes it back. */
  after(ms: number, action: () => void): () => void;
  /** Moves the time forward and runs what became due, in order. */
  advance(ms: number): void;
  /** Takes back everything that waits. */
  stop(): void;
}

interface Waiting {
  due: number;
  action: () => void;
  timer: NodeJS.Timeout;
}

/** Longest delay that a Node timer takes, in ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

export function createServerClock(): ServerClock {
  let offset = 0;
  const waiting = new Set<Waiting>();
  const now = (): number => Date.now() + offset;

  const fire = (entry: Waiting): void => {
    clearTimeout(entry.timer);
    if (waiting.delete(entry)) entry.action();
  };

  return {
    now,
    after(ms, action) {
      const entry: Waiting = {
        due: now() + ms,
        action,
        timer: setTimeout(() => fire(entry), Math.min(Math.max(ms, 0), LONGEST_TIMER)),
      };
      entry.timer.unref();
      waiting.add(entry);
      return () => {
        clearTimeout(entry.timer);
        waiting.delete(entry);
      };
    },
    advance(ms) {
      offset += ms;
      const due = [...waiting].filter((entry) => entry.due <= now()).sort((a, b) => a.due - b.due);
      for (const entry of due) fire(entry);
    },
    stop() {
      for (const entry of waiting) clearTimeout(entry.timer);
      waiting.clear();
    },
  };
}

/** RFC 3339 in whole seconds, as `metav1.Time` prints it. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
