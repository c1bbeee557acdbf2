/** Waiting with a limit. */
import type { Clock } from "../clock.ts";

export interface WithinTimeOptions {
  signal: AbortSignal;
  clock: Clock;
  /** 0 waits for ever. */
  ms: number;
  /** Error when the time is over. */
  failure: () => Error;
}

/** Waits for `promise`; rejects with the signal's reason when it aborts, and with `failure()` after `ms` milliseconds. */
export function withinTime(promise: Promise<void>, options: WithinTimeOptions): Promise<void> {
  const { signal, clock, ms, failure } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = (settle: () => void): void => {
      cancel();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(signal.reason));
    const cancel = ms > 0 ? clock.setTimer(ms, () => end(() => reject(failure()))) : () => {};
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(
      () => end(resolve),
      (error) => end(() => reject(error)),
    );
  });
}
