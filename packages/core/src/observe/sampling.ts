/** Thins out messages that repeat over and over. */
import type { Clock } from "../clock.ts";

/** Span over which equal messages are counted. CORE-287. */
const WINDOW_MS = 60_000;
/** Equal messages of a span that are all written. CORE-287. */
const FIRST = 100;
/** Beyond them, one of so many is written. CORE-287. */
const EVERY = 100;
/** Distinct messages that are counted; more than a busy minute holds. */
const MAX_KEYS = 10_000;

/** Decides on one message: not at all, or with the number of equal messages so far when some were left out. */
export type Sampler = (key: string) => { write: boolean; repeated?: number };

/** Sampler with one count per key and minute. */
export function createSampler(clock: Clock): Sampler {
  const counts = new Map<string, number>();
  let windowEnd = 0;
  return (key) => {
    const now = clock.monotonic();
    if (now >= windowEnd || counts.size >= MAX_KEYS) {
      counts.clear();
      windowEnd = now + WINDOW_MS;
    }
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= FIRST) return { write: true };
    return (count - FIRST) % EVERY === 0 ? { write: true, repeated: count } : { write: false };
  };
}
