/** Notices that a stream has gone silent. */
import type { Clock } from "../../clock.ts";

/** Points in a silence, in milliseconds since the last sign of life. */
export interface SilenceLimits {
  readonly abortAfterMs: number;
  readonly warnAfterMs?: number;
  readonly warnEveryMs?: number;
}

export interface Watchdog {
  /** A sign of life. Costs a clock reading, so it may be called for every chunk. */
  touch(): void;
  stop(): void;
}

/**
 * Watches over a stream until it is stopped or has aborted it. `limits` is asked anew each time, so they may change
 * while the stream runs.
 */
export function startWatchdog(options: {
  clock: Clock;
  limits: () => SilenceLimits;
  onWarn: (silentMs: number) => void;
  onAbort: () => void;
}): Watchdog {
  const { clock, limits, onWarn, onAbort } = options;
  let lastLife = clock.monotonic();
  let warnings = 0;
  let cancel: () => void = () => {};

  const nextWarning = ({ warnAfterMs, warnEveryMs }: SilenceLimits): number =>
    warnAfterMs === undefined
      ? Number.POSITIVE_INFINITY
      : warnAfterMs + warnings * (warnEveryMs ?? warnAfterMs);

  // One timer, set anew only when it fires: a busy stream does not set one per chunk.
  const check = (): void => {
    const silent = clock.monotonic() - lastLife;
    const now = limits();
    if (silent >= now.abortAfterMs) {
      onAbort();
      return;
    }
    if (silent >= nextWarning(now)) {
      warnings++;
      onWarn(silent);
    }
    const wait = Math.min(now.abortAfterMs, nextWarning(now)) - silent;
    cancel = clock.setTimer(wait, check, { unref: true });
  };
  check();

  return {
    touch() {
      lastLife = clock.monotonic();
      warnings = 0;
    },
    stop: () => cancel(),
  };
}
