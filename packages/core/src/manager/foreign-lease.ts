/** Sees whether another operator is alive by the Lease that it holds. */
import { isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { LEASE } from "../kinds/index.ts";
import { keyToString } from "../object.ts";
import { isHeld, type LeaseView, observeLease } from "./lease.ts";

/** A Lease is read at most this often: the usual retry period of leader election. */
const MIN_AGE_MS = 2_000;
/** Duration of a Lease that names none: the usual one. */
const FALLBACK_DURATION_MS = 15_000;

export interface ForeignLeaseOptions {
  client: Pick<Client, "get">;
  clock: Clock;
  /** Own identity: a Lease that this process holds is nobody else's. */
  identity: string;
}

/** Looks at a Lease; see `Manager.foreignLease`. */
export type ForeignLeases = (namespace: string, name: string) => Promise<boolean>;

interface Watched {
  view: LeaseView | undefined;
  checkedAt: number;
  running: Promise<void> | undefined;
}

/**
 * Watcher of others' Leases. The first look at a held Lease counts as a change, so that a peer is respected from the
 * start; a Lease that a peer left behind is ignored once it stood still for its duration. Rejects when the Lease
 * cannot be read: whether the peer lives is then unknown.
 */
export function createForeignLeases(options: ForeignLeaseOptions): ForeignLeases {
  const { client, clock, identity } = options;
  const watched = new Map<string, Watched>();

  const look = async (state: Watched, key: { namespace: string; name: string }): Promise<void> => {
    try {
      state.view = observeLease(state.view, await client.get(LEASE, key), clock);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      state.view = undefined;
    }
    state.checkedAt = clock.monotonic();
  };

  return async (namespace, name) => {
    const id = keyToString({ namespace, name });
    const state = watched.get(id) ?? {
      view: undefined,
      checkedAt: Number.NEGATIVE_INFINITY,
      running: undefined,
    };
    watched.set(id, state);
    if (clock.monotonic() - state.checkedAt >= MIN_AGE_MS) {
      state.running ??= look(state, { namespace, name }).finally(() => {
        state.running = undefined;
      });
      await state.running;
    }
    const { view } = state;
    if (view === undefined || view.lease.spec?.holderIdentity === identity) return false;
    return isHeld(view, clock, FALLBACK_DURATION_MS);
  };
}
