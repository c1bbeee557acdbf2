/** Points in time that survive a stopped process or machine. */
import type { Clock } from "../clock.ts";

/** A moment on both clocks. */
export interface Stamp {
  readonly monotonic: number;
  readonly wall: number;
}

/** The present moment. */
export function stamp(clock: Clock): Stamp {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * Milliseconds since a moment. The monotonic clock may stand still while a machine is suspended, so the larger of both
 * differences counts; a wall clock set back does no harm.
 */
export function elapsedSince(clock: Clock, moment: Stamp): number {
  return Math.max(clock.monotonic() - moment.monotonic, clock.now() - moment.wall);
}
