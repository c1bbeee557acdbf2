/** Limits on how many events one object may cause. */
import type { Clock } from "../clock.ts";

/** Events in a row per object (client-go's event spam filter). */
const BURST = 25;
/** One more per so many milliseconds; same source. */
const REFILL_MS = 300_000;
/** Objects remembered at once; same source (its LRU caches). */
const MAX_OBJECTS = 4_096;

/** Takes a token of an object; false when it has none left. */
export type EventLimiter = (object: string) => boolean;

/** Token buckets by object; of too many objects the one unused longest starts over. */
export function createEventLimiter(clock: Clock): EventLimiter {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (object) => {
    const now = clock.monotonic();
    const last = buckets.get(object);
    const tokens = last === undefined ? BURST : Math.min(BURST, last.tokens + (now - last.at) / REFILL_MS);
    const granted = tokens >= 1;
    buckets.delete(object);
    buckets.set(object, { tokens: granted ? tokens - 1 : tokens, at: now });
    if (buckets.size > MAX_OBJECTS) buckets.delete(buckets.keys().next().value!);
    return granted;
  };
}
