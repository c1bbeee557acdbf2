/**
 * How soon a changed configuration is transmitted (TUN-613). One change goes at once. While changes go on, each further
 * transmission has to be farther from the one before, so that a burst costs few of them however long it lasts; when the
 * configuration stays as it is, the burst is over, and what is left of it goes without delay.
 */
import type { Clock } from "@quartet/core";

/** Distance of the second transmission of a burst from the first; it doubles with each one, up to the longest. */
const FIRST_MS = 10_000;
const LONGEST_MS = 40_000;

export interface Pace {
  /** Milliseconds until the configuration with this hash may be transmitted; 0 when it may now. */
  wait(name: string, hash: string): number;
  /** A transmission begins. */
  sending(name: string): void;
  forget(name: string): void;
}

interface Sent {
  readonly at: number;
  readonly distance: number;
}

/** @param calmMs a configuration that is the same after this time is that of the end of a burst */
export function createPace(calmMs: number, clock: Clock): Pace {
  const sent = new Map<string, Sent>();
  const waiting = new Map<string, { readonly hash: string; readonly since: number }>();
  return {
    wait(name, hash) {
      const now = clock.monotonic();
      const last = sent.get(name);
      const left = last === undefined ? 0 : last.at + last.distance - now;
      if (left <= 0) return 0;
      const seen = waiting.get(name);
      const since = seen?.hash === hash ? seen.since : now;
      waiting.set(name, { hash, since });
      return Math.max(0, Math.min(left, since + calmMs - now));
    },
    sending(name) {
      const at = clock.monotonic();
      sent.set(name, { at, distance: distanceAfter(sent.get(name), at) });
      waiting.delete(name);
    },
    forget(name) {
      for (const map of [sent, waiting]) map.delete(name);
    },
  };
}

/** Distance that the next transmission keeps. A pause of twice the distance ends a burst. */
function distanceAfter(last: Sent | undefined, now: number): number {
  const goesOn = last !== undefined && now - last.at < 2 * last.distance;
  return goesOn ? Math.min(2 * last.distance, LONGEST_MS) : FIRST_MS;
}
