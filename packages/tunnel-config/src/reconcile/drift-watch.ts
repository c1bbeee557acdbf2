/** When configurations in the account are compared, and how often somebody else's is overwritten. */
import type { Clock, Result } from "@quartet/core";

/** Overwriting somebody else so often within the window means a fight; then it is left alone for a while (TUN-634). */
const FIGHT = { times: 3, windowMs: 600_000, pauseMs: 3_600_000 } as const;
/** Shortest pause until the next comparison, in milliseconds. */
const LEAST_MS = 1_000;

export interface DriftWatch {
  /** Whether a comparison is due; the first one is an interval after the start. */
  due(name: string): boolean;
  /** The configuration was compared, or transmitted. */
  checked(name: string): void;
  /** When to come back. */
  next(name: string): Result;
  /** Whether somebody else's configuration may be overwritten once more; counts it. */
  mayOverwrite(name: string): boolean;
  forget(name: string): void;
}

/** @param intervalMs milliseconds between comparisons; 0 = never */
export function createDriftWatch(intervalMs: number, clock: Clock): DriftWatch {
  const checked = new Map<string, number>();
  const overwritten = new Map<string, readonly number[]>();
  const stopped = new Map<string, number>();
  return {
    due(name) {
      const last = checked.get(name);
      if (intervalMs !== 0 && last !== undefined) return clock.monotonic() - last >= intervalMs;
      checked.set(name, clock.monotonic());
      return false;
    },
    checked: (name) => void checked.set(name, clock.monotonic()),
    next(name) {
      if (intervalMs === 0) return {};
      const last = checked.get(name) ?? clock.monotonic();
      return { requeueAfter: Math.max(LEAST_MS, last + intervalMs - clock.monotonic()) };
    },
    mayOverwrite(name) {
      const now = clock.monotonic();
      if (now < (stopped.get(name) ?? 0)) return false;
      const times = (overwritten.get(name) ?? []).filter((time) => time > now - FIGHT.windowMs);
      if (times.length >= FIGHT.times) {
        stopped.set(name, now + FIGHT.pauseMs);
        overwritten.delete(name);
        return false;
      }
      overwritten.set(name, [...times, now]);
      return true;
    },
    forget(name) {
      for (const map of [checked, overwritten, stopped]) map.delete(name);
    },
  };
}
