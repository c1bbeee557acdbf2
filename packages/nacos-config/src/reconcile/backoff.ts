/** When a pass is repeated. */
import type { ResourceMemory } from "./memory.ts";

/** First wait after a failure, and the longest, in milliseconds. */
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

/**
 * Wait before the next try: 5 s, doubled while the same failure repeats, at most 60 s. A pass that came before its time
 * was brought about by a change, so the waits begin anew.
 * @param now milliseconds since the Unix epoch
 */
export function retryDelay(memory: ResourceMemory, what: string, now: number): number {
  const { failing } = memory;
  const repeats = failing?.what === what && now >= failing.dueAt;
  const times = repeats ? failing.times + 1 : 0;
  const delay = Math.min(FIRST_RETRY_MS * 2 ** times, MAX_RETRY_MS);
  memory.failing = { what, times, dueAt: now + delay };
  return delay;
}
