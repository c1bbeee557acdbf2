/** Waits between failed lists and watches. */

/** First wait, growth, and longest wait before jitter: client-go's reflector. */
const BASE_MS = 800;
const FACTOR = 2;
const CAP_MS = 30_000;
/** A failure this long after the one before it starts over; client-go's reflector. */
const RESET_AFTER_MS = 120_000;

export interface Backoff {
  /** Failures in a row. */
  readonly failures: number;
  /** Time of the last one on the monotonic clock. */
  readonly lastFailureAt: number;
}

/** Backoff before any failure. */
export const NO_BACKOFF: Backoff = Object.freeze({ failures: 0, lastFailureAt: 0 });

/** Counts a failure at `now`; `random` gives numbers in [0, 1) for the jitter of 0–100 %. */
export function backOff(
  backoff: Backoff,
  now: number,
  random: () => number,
): { backoff: Backoff; delayMs: number } {
  const stale = now - backoff.lastFailureAt > RESET_AFTER_MS;
  const before = stale ? 0 : backoff.failures;
  const delay = Math.min(CAP_MS, BASE_MS * FACTOR ** before);
  return { backoff: { failures: before + 1, lastFailureAt: now }, delayMs: delay * (1 + random()) };
}
