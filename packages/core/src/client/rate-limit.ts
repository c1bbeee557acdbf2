/** Token bucket that all requests of a process share. */
import { type Clock, sleep } from "../clock.ts";

export interface RateLimiter {
  /** Waits for a token; resolves with the seconds waited. Waiters are served in order. */
  take(signal: AbortSignal | undefined): Promise<number>;
}

/** Bucket of `burst` tokens that gains `qps` tokens per second. */
export function createRateLimiter(qps: number, burst: number, clock: Clock): RateLimiter {
  let tokens = burst;
  let filledAt = clock.monotonic();
  return {
    async take(signal) {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * qps);
      filledAt = now;
      // Tokens below zero are reservations of those who wait already.
      tokens -= 1;
      if (tokens >= 0) return 0;
      const seconds = -tokens / qps;
      await sleep(clock, seconds * 1000, signal);
      return seconds;
    },
  };
}
