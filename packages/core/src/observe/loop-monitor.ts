/** Watches whether the event loop still turns. */
import type { Clock } from "../clock.ts";
import type { Logger } from "./types.ts";

/** Pause between two looks at the loop. */
const BEAT_MS = 500;
/** Age of the last beat at which the process counts as stuck (CORE-281). */
const STUCK_MS = 10_000;

/** A running monitor. */
export interface LoopMonitor {
  /** Health check: fails when no timer fired for 10 s. */
  check(): string | undefined;
  stop(): void;
}

export interface LoopMonitorOptions {
  clock: Clock;
  log: Logger;
  /** Delay of a timer beyond which a line is logged: the retry period of leader election. */
  warnAboveMs: number;
}

/** Starts beating. */
export function startLoopMonitor(options: LoopMonitorOptions): LoopMonitor {
  const { clock, log, warnAboveMs } = options;
  let lastBeat = clock.monotonic();
  let cancel = (): void => {};
  const beat = (): void => {
    const now = clock.monotonic();
    const lagMs = now - lastBeat - BEAT_MS;
    lastBeat = now;
    if (lagMs > warnAboveMs) log.warn("Event loop was blocked", { lagMs: Math.round(lagMs) });
    arm();
  };
  const arm = (): void => {
    cancel = clock.setTimer(BEAT_MS, beat, { unref: true });
  };
  arm();
  return {
    check() {
      const age = clock.monotonic() - lastBeat;
      return age > STUCK_MS ? `no timer fired for ${Math.round(age)} ms` : undefined;
    },
    stop: () => cancel(),
  };
}
