/** Time limit of a reconcile (CORE-232). */
import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";

/** A reconcile that ignores its signal is named again and again at this interval. */
const STUCK_WARNING_MS = 60_000;

export interface TimeLimitOptions {
  clock: Clock;
  log: Logger;
  /** 0: no limit. */
  ms: number;
  onTimeout: () => void;
}

export interface TimeLimit {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** The reconcile has ended. */
  clear(): void;
}

/** Starts to count now. A reconcile that goes on for as long again after its time is named each minute. */
export function timeLimit({ clock, log, ms, onTimeout }: TimeLimitOptions): TimeLimit {
  const abort = new AbortController();
  let cancel = (): void => {};
  const warn = (): void => {
    log.warn("reconcile does not end although its time is over");
    cancel = clock.setTimer(STUCK_WARNING_MS, warn);
  };
  const timeOut = (): void => {
    onTimeout();
    abort.abort(new Error("reconciliation timeout"));
    cancel = clock.setTimer(ms, warn);
  };
  if (ms > 0) cancel = clock.setTimer(ms, timeOut);
  return { signal: abort.signal, clear: () => cancel() };
}
