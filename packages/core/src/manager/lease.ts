/** Leases, and how to tell from afar whether their holder is alive. */
import { microTime } from "../client/micro-time.ts";
import type { Clock } from "../clock.ts";
import type { Lease, LeaseSpec } from "../kinds/index.ts";

/** What was seen of a Lease, and when by the own clock: times inside the Lease are never compared. */
export interface LeaseView {
  readonly lease: Lease;
  /** Monotonic time at which this state of the Lease was first seen. */
  readonly changedAt: number;
}

/** The view after reading the Lease again. */
export function observeLease(before: LeaseView | undefined, lease: Lease, clock: Clock): LeaseView {
  const same = before !== undefined && fingerprint(before.lease) === fingerprint(lease);
  return { lease, changedAt: same ? before.changedAt : clock.monotonic() };
}

/** True while somebody holds the Lease and its state changed within its own duration. */
export function isHeld(view: LeaseView, clock: Clock, fallbackDurationMs: number): boolean {
  const { holderIdentity, leaseDurationSeconds } = view.lease.spec ?? {};
  if (!holderIdentity) return false;
  const durationMs = leaseDurationSeconds ? leaseDurationSeconds * 1_000 : fallbackDurationMs;
  return clock.monotonic() - view.changedAt < durationMs;
}

/** Spec by which `identity` takes the Lease over, or holds it on if it was the holder before. */
export function heldSpec(
  before: LeaseSpec | undefined,
  identity: string,
  durationMs: number,
  now: number,
): LeaseSpec {
  const time = microTime(now);
  const mine = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    acquireTime: mine && before.acquireTime ? before.acquireTime : time,
    renewTime: time,
    leaseTransitions:
      before === undefined || mine ? (before?.leaseTransitions ?? 0) : (before.leaseTransitions ?? 0) + 1,
  };
}

/** Spec by which the holder gives the Lease back; client-go writes the same. */
export function releasedSpec(before: LeaseSpec | undefined, now: number): LeaseSpec {
  const time = microTime(now);
  return { ...before, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
}

const fingerprint = (lease: Lease): string => JSON.stringify([lease.metadata.uid, lease.spec]);
