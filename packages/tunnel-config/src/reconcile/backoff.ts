/** Growing pauses for what fails outside the cluster (section 10). */

const FIRST_MS = 1_000;
const MOST_MS = 300_000;
/** Part of a pause that is left to chance. */
const JITTER = 0.2;

export interface Backoff {
  /** Milliseconds until the next try of a key. */
  next(key: string): number;
  /** The key succeeded, or is gone. */
  reset(key: string): void;
}

export function createBackoff(random: () => number = Math.random): Backoff {
  const failures = new Map<string, number>();
  return {
    next(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const pause = Math.min(FIRST_MS * 2 ** count, MOST_MS);
      return Math.round(pause * (1 - JITTER + 2 * JITTER * random()));
    },
    reset: (key) => void failures.delete(key),
  };
}
