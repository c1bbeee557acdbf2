/** A clock that tests move by hand. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../clock.ts";

/** Rounds of the event loop that {@link FakeClock.flush} waits: chains of promises that yield once or twice settle. */
const FLUSH_ROUNDS = 3;

/** Where a fake clock stands at first: 2026-01-01T00:00:00Z. */
const DEFAULT_START = Date.UTC(2026, 0, 1);

export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms` milliseconds. Timers that fall due run in order of their deadline, each seeing its own
   * deadline as the current time, and everything they set off settles before the next one runs.
   */
  advance(ms: number): Promise<void>;
  /** Lets promises and immediates settle without moving time. */
  flush(): Promise<void>;
  /** Timers that are set and have neither fired nor been cancelled. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Clock at a standstill; `start` is its wall-clock time in milliseconds since the Unix epoch. */
export function fakeClock(start: number = DEFAULT_START): FakeClock {
  let elapsed = 0;
  const timers = new Set<Timer>();

  const earliest = (): Timer | undefined => {
    let first: Timer | undefined;
    // A Set keeps insertion order, so of two equal deadlines the older timer wins.
    for (const timer of timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  };
  const flush = async (): Promise<void> => {
    for (let round = 0; round < FLUSH_ROUNDS; round++) await setImmediate();
  };

  return {
    monotonic: () => elapsed,
    now: () => start + elapsed,
    setTimer(ms, fn) {
      const timer = { at: elapsed + Math.max(0, ms), fn };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const end = elapsed + ms;
      await flush();
      for (let timer = earliest(); timer !== undefined && timer.at <= end; timer = earliest()) {
        elapsed = timer.at;
        timers.delete(timer);
        timer.fn();
        await flush();
      }
      elapsed = end;
    },
    flush,
    get pending() {
      return timers.size;
    },
  };
}
