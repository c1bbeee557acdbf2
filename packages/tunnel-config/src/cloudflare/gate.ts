/**
 * How many calls of one credential are under way. Controllers have a few workers each; an account that does not answer
 * must not hold them all, for others wait for the same workers.
 */
import type { Clock } from "@quartet/core";

/** Calls at a time; fewer than the workers of a controller. */
const MAX_CALLS = 3;
/** Longest wait for a place among them, in milliseconds. */
const PATIENCE_MS = 1_000;
/** Pauses after calls that were not answered, in milliseconds; the last one repeats. */
const PAUSES_MS: readonly number[] = [2_000, 5_000, 15_000, 30_000, 60_000];

export interface Gate {
  /** Resolves to the function that ends the call, or to the milliseconds after which to come back. */
  enter(): Promise<Leave | number>;
}

/** @param answered whether there was any answer in time */
export type Leave = (answered: boolean) => void;

export function createGate(clock: Clock): Gate {
  /** When the calls under way began. */
  const underWay = new Set<{ readonly since: number }>();
  let closedUntil = 0;
  let silences = 0;
  let waiters: (() => void)[] = [];

  const limit = (): number => (silences === 0 ? MAX_CALLS : 1);
  const left = (answered: boolean): void => {
    if (answered) silences = 0;
    else {
      closedUntil = clock.monotonic() + (PAUSES_MS[Math.min(silences, PAUSES_MS.length - 1)] ?? 0);
      silences += 1;
    }
    waiters.shift()?.();
  };
  /** Whether all calls under way take so long that none is likely to end soon. */
  const isSlow = (): boolean => {
    const latest = Math.max(...[...underWay].map(({ since }) => since));
    return clock.monotonic() - latest > PATIENCE_MS;
  };
  const place = (): Promise<boolean> =>
    new Promise((resolve) => {
      const go = (): void => {
        cancel();
        resolve(true);
      };
      const cancel = clock.setTimer(
        PATIENCE_MS,
        () => {
          waiters = waiters.filter((other) => other !== go);
          resolve(false);
        },
        { unref: true },
      );
      waiters.push(go);
    });

  return {
    async enter() {
      for (;;) {
        const closed = closedUntil - clock.monotonic();
        if (closed > 0) return closed;
        if (underWay.size < limit()) break;
        if (isSlow() || !(await place())) return PATIENCE_MS;
      }
      const call = { since: clock.monotonic() };
      underWay.add(call);
      return (answered) => {
        if (underWay.delete(call)) left(answered);
      };
    },
  };
}
