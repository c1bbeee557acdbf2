/** The last outcome of each key, for `quartet explain`; bounded, so memory does not grow with time. */

export interface Outcome {
  result: "success" | "error";
  error?: unknown;
  /** Conflicts in a row. */
  conflicts?: number;
  seconds: number;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

export interface RecentOutcomes {
  get(key: string): Outcome | undefined;
  /** Keeps an outcome; the oldest ones beyond the limit are dropped. */
  set(key: string, outcome: Outcome): void;
}

/** Enough to look into a controller's recent past. */
const LIMIT = 1000;

export function recentOutcomes(limit: number = LIMIT): RecentOutcomes {
  const outcomes = new Map<string, Outcome>();
  return {
    get: (key) => outcomes.get(key),
    set(key, outcome) {
      outcomes.delete(key);
      outcomes.set(key, outcome);
      for (const oldest of outcomes.keys()) {
        if (outcomes.size <= limit) return;
        outcomes.delete(oldest);
      }
    },
  };
}
