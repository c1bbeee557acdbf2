/** A token bucket: limits how often something is done on average, and lets some of it be done at once. */
import { type Clock, sleep } from "./clock.ts";

export interface TokenBucket {
  /** Takes a token that may have to come yet; returns the milliseconds until it is there. */
  reserve(): number;
  /** Waits for a token and resolves with the milliseconds waited. Those who wait are served in order; one that is aborted gives its token back. */
  take(signal?: AbortSignal): Promise<number>;
}

/** Bucket of `burst` tokens, full at first, that gains `perSecond` tokens a second. */
export function createTokenBucket(perSecond: number, burst: number, clock: Clock): TokenBucket {
  /** Below zero: tokens that are owed to those who wait. */
  let tokens = burst;
  let filledAt = clock.monotonic();
  const reserve = (): number => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - filledAt) * perSecond) / 1000) - 1;
    filledAt = now;
    return tokens >= 0 ? 0 : (-tokens * 1000) / perSecond;
  };
  return {
    reserve,
    async take(signal) {
      const ms = reserve();
      if (ms === 0) return 0;
      try {
        await sleep(clock, ms, signal);
      } catch (error) {
        tokens += 1;
        throw error;
      }
      return ms;
    },
  };
}
