/** How many calls a credential may make (TUN-1002), and when it must be silent (TUN-1004). */
import type { Clock } from "@quartet/core";

/** What waiting calls are let through first by. */
export type CallPriority = "config" | "delete" | "write" | "read" | "check";

const ORDER: readonly CallPriority[] = ["config", "delete", "write", "read", "check"];

/** Window of the limit of the API, in milliseconds. */
const WINDOW_MS = 300_000;
/** Calls within one second: an address may make 200, and others share it. */
const BURST = 40;
const BURST_MS = 1000;
/** Part of the calls of a user that is left for what cannot wait. */
const SCARCE = 0.1;
/** Pauses after refusals that name none, in milliseconds. */
const PAUSES_MS: readonly number[] = [60_000, 120_000, 240_000, 300_000];

export interface Budget {
  /** Resolves when the call may go out; rejects with the signal's reason. */
  take(priority: CallPriority, signal?: AbortSignal): Promise<void>;
  /** The API refused a call as one too many: nothing goes out for that long. */
  refused(retryAfterMs: number | undefined): void;
  /** A call was let through. */
  accepted(): void;
  /** Milliseconds until calls go out again; 0 when they do. */
  pausedMs(): number;
  /** The API says how many calls are left, of how many, and until when in milliseconds (TUN-1003). */
  told(left: number, of: number, resetMs: number): void;
  /** Milliseconds until one more call may go out; what can wait does so while few are left. */
  waitMs(priority?: CallPriority): number;
  /** Calls left in the window. */
  remaining(): number;
}

interface Waiter {
  readonly rank: number;
  readonly go: () => void;
}

/** @param calls calls per five minutes; 0 or less means no limit */
export function createBudget(calls: number, clock: Clock): Budget {
  const limit = calls > 0 ? calls : Number.POSITIVE_INFINITY;
  /** Times of the calls in the window, oldest first. */
  let times: number[] = [];
  let waiters: Waiter[] = [];
  let silentUntil = 0;
  let scarceUntil = 0;
  let refusals = 0;
  let cancelTimer: (() => void) | undefined;

  const trim = (now: number): void => {
    const first = times.findIndex((time) => time > now - WINDOW_MS);
    times = first < 0 ? [] : times.slice(first);
  };
  /** Milliseconds until one more call may go out. */
  const wait = (now: number): number => {
    trim(now);
    if (now < silentUntil) return silentUntil - now;
    const window = times.length < limit ? 0 : (times[0] ?? now) + WINDOW_MS - now;
    const burst = times.length < BURST ? 0 : (times.at(-BURST) ?? now) + BURST_MS - now;
    return Math.max(0, window, burst);
  };
  const pump = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    while (waiters.length > 0) {
      const delay = wait(clock.monotonic());
      if (delay > 0) {
        cancelTimer = clock.setTimer(delay, pump, { unref: true });
        return;
      }
      const next = waiters.reduce((best, waiter) => (waiter.rank < best.rank ? waiter : best));
      waiters = waiters.filter((waiter) => waiter !== next);
      times.push(clock.monotonic());
      next.go();
    }
  };

  return {
    take(priority, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const onAbort = (): void => {
          waiters = waiters.filter((other) => other !== waiter);
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          rank: ORDER.indexOf(priority),
          go: () => {
            signal?.removeEventListener("abort", onAbort);
            resolve();
          },
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        waiters.push(waiter);
        pump();
      });
    },
    refused(retryAfterMs) {
      const pause = retryAfterMs ?? PAUSES_MS[Math.min(refusals, PAUSES_MS.length - 1)] ?? 0;
      refusals += 1;
      silentUntil = Math.max(silentUntil, clock.monotonic() + pause);
    },
    accepted() {
      refusals = 0;
    },
    pausedMs: () => Math.max(0, silentUntil - clock.monotonic()),
    told(left, of, resetMs) {
      scarceUntil = left < of * SCARCE ? clock.monotonic() + Math.min(resetMs, WINDOW_MS) : 0;
    },
    waitMs: (priority) => {
      const now = clock.monotonic();
      return Math.max(wait(now), priority === "check" ? scarceUntil - now : 0);
    },
    remaining() {
      trim(clock.monotonic());
      return limit - times.length;
    },
  };
}
