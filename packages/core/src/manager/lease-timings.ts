/** The three durations of leader election. */
import { ConfigurationError } from "../client/errors.ts";
import { formatDuration } from "../module/duration.ts";

/** Durations of leader election in milliseconds. */
export interface LeaseTimings {
  /** How long others wait, without seeing a change, before they take the Lease over. */
  readonly leaseDurationMs: number;
  /** How long the holder tries to renew before it stops leading. */
  readonly renewDeadlineMs: number;
  /** Pause between two tries. */
  readonly retryPeriodMs: number;
}

/** Tries to acquire are this much further apart at most (client-go, `leaderelection.JitterFactor`). */
export const JITTER_FACTOR: number = 1.2;

/** Throws `ConfigurationError` when the durations leave room for two leaders, or for none (CORE-252). */
export function checkLeaseTimings(timings: LeaseTimings): void {
  const lease = formatDuration(timings.leaseDurationMs);
  const renew = formatDuration(timings.renewDeadlineMs);
  const retry = formatDuration(timings.retryPeriodMs);
  const given = `lease-duration ${lease}, renew-deadline ${renew}, retry-period ${retry}`;
  const fail = (problem: string, remedy: string): never => {
    throw new ConfigurationError(`leader election: ${problem} (${given}): ${remedy}`);
  };
  if (Math.min(timings.leaseDurationMs, timings.renewDeadlineMs, timings.retryPeriodMs) <= 0) {
    fail("a duration is ≤ 0", "make all three longer than 0");
  }
  if (timings.leaseDurationMs <= timings.renewDeadlineMs) {
    fail("lease ≤ renew", "make the lease duration longer than the renew deadline");
  }
  if (timings.renewDeadlineMs <= JITTER_FACTOR * timings.retryPeriodMs) {
    fail("renew ≤ 1.2 × retry", "make the renew deadline longer than 1.2 times the retry period");
  }
}
