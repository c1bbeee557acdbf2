/** Holds back the next replacement of a pod that has come back without its patches: nobody may ask the hook (DSP-926). */
import type { Clock } from "@quartet/core";

/** Time until the second replacement, ms; it doubles with each further one, up to the longest. */
const FIRST_MS = 10_000;
const LONGEST_MS = 15 * 60_000;
/** What is older counts no more, ms. */
const KEPT_MS = 60 * 60_000;

export interface Retries {
  /** Milliseconds until a pod may be replaced again for the same patches; not above 0 when it may be now. */
  waitMs(place: string, hash: string): number;
  /** A pod was replaced for these patches. */
  note(place: string, hash: string): void;
}

/** Replacements by place: a DaemonSet and a node. */
export function createRetries(clock: Clock): Retries {
  /** The oldest first. */
  const tried = new Map<string, { readonly hash: string; readonly times: number; readonly at: number }>();
  return {
    waitMs(place, hash) {
      const known = tried.get(place);
      if (known?.hash !== hash) return 0;
      return known.at + Math.min(LONGEST_MS, FIRST_MS * 2 ** (known.times - 1)) - clock.now();
    },
    note(place, hash) {
      const now = clock.now();
      for (const [other, { at }] of tried) {
        if (now - at <= KEPT_MS) break;
        tried.delete(other);
      }
      const known = tried.get(place);
      tried.delete(place);
      tried.set(place, { hash, times: known?.hash === hash ? known.times + 1 : 1, at: now });
    },
  };
}
