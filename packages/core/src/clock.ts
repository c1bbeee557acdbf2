/**
 * Time as a dependency. Everything that waits or stamps takes a `Clock`, so tests can move time by hand.
 */
export interface Clock {
  /** Milliseconds of a monotonic clock; differences count, the origin does not. */
  monotonic(): number;
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds (any length); the returned function cancels it. */
  setTimer(ms: number, fn: () => void, options?: { unref?: boolean }): () => void;
}

/** Longest delay that Node's timers take; longer ones fire at once (Node documentation, `setTimeout`). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The real clock. Delays beyond Node's limit are chained, and so is what is left when Node fires early: its timers
 * count from the begin of the event loop's round, not from the call.
 */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  now: () => Date.now(),
  setTimer(ms, fn, options) {
    const deadline = performance.now() + ms;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const left = Math.max(0, deadline - performance.now());
      handle = setTimeout(() => (performance.now() < deadline ? arm() : fn()), Math.min(left, MAX_TIMER_MS));
      if (options?.unref) handle.unref();
    };
    arm();
    return () => clearTimeout(handle);
  },
};

/** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** What {@link withLimit} gives in place of a value that did not come in time. */
export const LATE: unique symbol = Symbol("late");

/** The promise's value, or {@link LATE} after `ms` milliseconds; `Infinity` waits as long as it takes. */
export function withLimit<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | typeof LATE> {
  if (ms === Number.POSITIVE_INFINITY) return promise;
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => resolve(LATE));
    promise.then(resolve, reject).finally(cancel);
  });
}
