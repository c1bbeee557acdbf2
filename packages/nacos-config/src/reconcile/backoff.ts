/** When a pass is repeated. */
import type { ResourceMemory } from "./memory.ts";

/** First wait after a failure, and the longest, in milliseconds. */
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

/** Wait before the next try: 5 s, doubled while the same failure repeats, at most 60 s. */
export function retryDelay(memory: ResourceMemory, what: string): number {
  const times = memory.failing?.what === what ? memory.failing.times : 0;
  memory.failing = { what, times: times + 1 };
  return Math.min(FIRST_RETRY_MS * 2 ** times, MAX_RETRY_MS);
}
