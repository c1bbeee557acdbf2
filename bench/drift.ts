/** Limits of the soak run. */
import { median } from "./statistics.ts";

export interface Sample {
  readonly rssMib: number;
  readonly openFiles: number;
}

/** What the soak run must keep to. */
export const LIMITS = {
  /** Growth of the median RSS from the second quarter to the last one; the first quarter is warm-up. */
  rssGrowth: 0.1,
  /** Open files more than after the warm-up. */
  moreOpenFiles: 10,
  /** 99th percentile of the event-loop lag, milliseconds. */
  lagP99Ms: 50,
} as const;

/** Sentences on what the samples, in order of time, violate; empty when all is well. */
export function violations(samples: readonly Sample[], lagP99Ms: number): string[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 1) return ["too few samples to say anything: run longer"];
  const early = samples.slice(quarter, 2 * quarter);
  const late = samples.slice(-quarter);
  const medianOf = (part: readonly Sample[], pick: (sample: Sample) => number): number =>
    median(part.map(pick));
  const found: string[] = [];
  const [before, after] = [medianOf(early, ({ rssMib }) => rssMib), medianOf(late, ({ rssMib }) => rssMib)];
  if (after > before * (1 + LIMITS.rssGrowth)) {
    found.push(`RSS grew from ${before.toFixed(0)} to ${after.toFixed(0)} MiB`);
  }
  const [first, last] = [
    medianOf(early, ({ openFiles }) => openFiles),
    medianOf(late, ({ openFiles }) => openFiles),
  ];
  if (last > first + LIMITS.moreOpenFiles) found.push(`open files grew from ${first} to ${last}`);
  if (lagP99Ms > LIMITS.lagP99Ms) {
    found.push(`event-loop lag p99 is ${lagP99Ms.toFixed(0)} ms, more than ${LIMITS.lagP99Ms} ms`);
  }
  return found;
}
