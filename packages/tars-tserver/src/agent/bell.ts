/** Wakes a loop: a ring while it is at work is heard when it waits next. */
import { type Clock, sleep } from "@quartet/core";

export interface Bell {
  readonly ring: () => void;
  /** Forgets what has rung: whoever calls it looks at everything afterwards. */
  silence(): void;
  /** Resolves once it has rung since it was silenced, after the longest time, or when the signal aborts. */
  rung(longestMs: number, signal: AbortSignal): Promise<void>;
}

export function createBell(clock: Clock): Bell {
  let ringing = new AbortController();
  return {
    ring: () => ringing.abort(),
    silence() {
      if (ringing.signal.aborted) ringing = new AbortController();
    },
    async rung(longestMs, signal) {
      const either = AbortSignal.any([signal, ringing.signal]);
      await sleep(clock, longestMs, either).catch(() => {});
    },
  };
}
