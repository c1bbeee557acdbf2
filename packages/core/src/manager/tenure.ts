/** How long this process may count itself the leader. */
import type { Clock } from "../clock.ts";
import type { LeaderObserver } from "../observe/leader-metrics.ts";
import { LeadershipLostError } from "./errors.ts";
import type { Fence } from "./fence.ts";
import { elapsedSince, type Stamp } from "./stamp.ts";

/** Time in office: begins with a renewal and ends when the next one is late. */
export interface Tenure {
  /** The Lease was renewed by a request sent at this moment. */
  renewed(sentAt: Stamp): void;
  /** True while less than the renew deadline has passed since a moment. */
  inTime(moment: Stamp): boolean;
  /** Ends it because leadership was lost. */
  lose(reason: string): void;
  /** Ends it in good order. */
  stepDown(): void;
  /** The last renewal; `undefined` when this process does not lead. */
  lastRenewal(): Stamp | undefined;
  /** Aborts when leadership was lost. */
  readonly lost: AbortSignal;
  /** Aborts when it ends, for whatever reason. */
  readonly over: AbortSignal;
}

export interface TenureOptions {
  clock: Clock;
  renewDeadlineMs: number;
  fence: Fence;
  observer?: LeaderObserver;
}

/** A tenure that has not begun. */
export function createTenure({ clock, renewDeadlineMs, fence, observer }: TenureOptions): Tenure {
  const lost = new AbortController();
  const over = new AbortController();
  let last: Stamp | undefined;
  let cancelDeadline = (): void => {};

  const stepDown = (): void => {
    last = undefined;
    fence.shut();
    cancelDeadline();
    over.abort();
    observer?.onLeading(false);
  };
  const lose = (reason: string): void => {
    if (last === undefined) return;
    stepDown();
    lost.abort(new LeadershipLostError(reason));
  };
  return {
    renewed(sentAt) {
      if (last === undefined) observer?.onLeading(true);
      last = sentAt;
      fence.renewed(sentAt);
      cancelDeadline();
      const left = Math.max(0, renewDeadlineMs - elapsedSince(clock, sentAt));
      cancelDeadline = clock.setTimer(left, () => lose("not renewed within the renew deadline"));
    },
    inTime: (moment) => elapsedSince(clock, moment) < renewDeadlineMs,
    lose,
    stepDown,
    lastRenewal: () => last,
    lost: lost.signal,
    over: over.signal,
  };
}
