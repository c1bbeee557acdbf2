/** Delays of rate-limited adds: backoff per key and one bucket for all keys. */
import type { Clock } from "../clock.ts";
import { createTokenBucket } from "../token-bucket.ts";

/** Figures of client-go's `DefaultTypedControllerRateLimiter` (CORE-207). */
export const BASE_DELAY_MS: number = 5;
export const MAX_DELAY_MS: number = 1_000_000;
export const BUCKET_PER_SECOND: number = 10;
export const BUCKET_BURST: number = 100;
/** 5 ms × 2^18 is above the cap already: larger exponents need not be computed. */
const MAX_EXPONENT = 18;

/** Decides how long a failed key waits. */
export interface RateLimiter {
  /** Counts a failure of the key and returns its delay in milliseconds. */
  delayFor(key: string): number;
  /** Failures since the last {@link RateLimiter.forget}. */
  failures(key: string): number;
  /** Frees what is kept about the key. */
  forget(key: string): void;
}

/** Exponential backoff per key: 5 ms × 2^n, at most 1 000 s. */
export function exponentialBackoff(
  baseMs: number = BASE_DELAY_MS,
  maxMs: number = MAX_DELAY_MS,
): RateLimiter {
  const counts = new Map<string, number>();
  return {
    delayFor(key) {
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      return Math.min(maxMs, baseMs * 2 ** Math.min(count, MAX_EXPONENT));
    },
    failures: (key) => counts.get(key) ?? 0,
    forget: (key) => {
      counts.delete(key);
    },
  };
}

/** Token bucket over all keys; an empty bucket delays by the time until the token that is owed. */
export function bucketLimiter(
  clock: Clock,
  perSecond: number = BUCKET_PER_SECOND,
  burst: number = BUCKET_BURST,
): RateLimiter {
  const bucket = createTokenBucket(perSecond, burst, clock);
  return {
    delayFor: () => bucket.reserve(),
    failures: () => 0,
    forget: () => {},
  };
}

/** The longest of several delays. */
export function maxOf(...limiters: readonly RateLimiter[]): RateLimiter {
  return {
    delayFor: (key) => Math.max(...limiters.map((limiter) => limiter.delayFor(key))),
    failures: (key) => Math.max(...limiters.map((limiter) => limiter.failures(key))),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key);
    },
  };
}

/** The limiter of a controller that names none. */
export function defaultRateLimiter(clock: Clock): RateLimiter {
  return maxOf(exponentialBackoff(), bucketLimiter(clock));
}
