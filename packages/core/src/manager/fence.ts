/** Keeps writes of leader work from being sent once leadership is no longer certain. */
import type { ClientHooks } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { LeadershipLostError } from "./errors.ts";
import { elapsedSince, type Stamp } from "./stamp.ts";

/** Opened by each renewal of the Lease for one renew deadline. */
export interface Fence {
  /** The Lease was renewed by a request sent at this moment. */
  renewed(at: Stamp): void;
  /** Lets no write through any more. */
  shut(): void;
  isOpen(): boolean;
  /** Hooks for the clients of leader work: a write on a shut fence throws {@link LeadershipLostError}. */
  readonly hooks: ClientHooks;
}

export interface FenceOptions {
  clock: Clock;
  renewDeadlineMs: number;
  /** A write was kept back. */
  onFenced?: () => void;
}

/** A fence that starts shut. */
export function createFence(options: FenceOptions): Fence {
  const { clock, renewDeadlineMs } = options;
  let last: Stamp | undefined;
  const isOpen = (): boolean => last !== undefined && elapsedSince(clock, last) < renewDeadlineMs;
  return {
    renewed: (at) => {
      last = at;
    },
    shut: () => {
      last = undefined;
    },
    isOpen,
    hooks: {
      beforeWrite(info) {
        if (isOpen()) return;
        options.onFenced?.();
        throw new LeadershipLostError(`${info.verb} of ${info.kind.plural} not sent`);
      },
    },
  };
}

/** The fence of a manager without leader election: always open. */
export function openFence(): Fence {
  return { renewed: () => {}, shut: () => {}, isOpen: () => true, hooks: {} };
}
