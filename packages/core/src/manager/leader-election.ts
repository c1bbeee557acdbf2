/**
 * Leader election by a Lease. One process holds it and renews it; the others take it over when they have seen no
 * change for its duration, by their own clock, or when the holder gave it back.
 */
import { sleep } from "../clock.ts";
import { keyToString } from "../object.ts";
import type { Fence } from "./fence.ts";
import { createLeaseStore, type LeaseStoreOptions } from "./lease-store.ts";
import { JITTER_FACTOR } from "./lease-timings.ts";
import { elapsedSince, stamp } from "./stamp.ts";
import { createTenure } from "./tenure.ts";

export interface LeaderElectorOptions extends LeaseStoreOptions {
  /** Told of every renewal. */
  fence: Fence;
  /** Random number in [0, 1). Default `Math.random`. */
  random?: () => number;
}

export interface LeaderElector {
  /** Resolves once this process leads, and renews from then on; rejects when the signal aborts before. */
  acquire(signal: AbortSignal): Promise<void>;
  isLeader(): boolean;
  /** Aborts with a `LeadershipLostError` when the Lease is lost. */
  readonly lost: AbortSignal;
  /** Milliseconds since the last renewal; `undefined` while this process does not lead. */
  sinceRenewal(): number | undefined;
  /** Stops renewing and, unless `keep` is set, gives the Lease back. Call it when all leader work has ended. */
  release(options?: { keep?: boolean }): Promise<void>;
}

/** One process's part in the election. */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  const { clock, log, identity, timings, fence, observer, random = Math.random } = options;
  const store = createLeaseStore(options);
  const { renewDeadlineMs } = timings;
  const tenure = createTenure({ clock, renewDeadlineMs, fence, ...(observer && { observer }) });
  let renewing: Promise<void> = Promise.resolve();

  const renewOnce = async (): Promise<void> => {
    const last = tenure.lastRenewal();
    if (last === undefined) return;
    // A process that stood still must not send a late renewal.
    if (!tenure.inTime(last)) return tenure.lose("not renewed within the renew deadline");
    const sentAt = stamp(clock);
    const outcome = await store.renew(tenure.over);
    if (tenure.lastRenewal() === undefined) return;
    if (outcome === "taken") tenure.lose(`held by ${store.holder()}`);
    else if (outcome === "held" && tenure.inTime(sentAt)) tenure.renewed(sentAt);
  };

  const renewUntilOver = async (): Promise<void> => {
    while (!tenure.over.aborted) {
      await sleep(clock, timings.retryPeriodMs, tenure.over).catch(() => undefined);
      if (!tenure.over.aborted) await renewOnce();
    }
  };

  /** True when the Lease is held by a request that is fresh enough to count. */
  const tryToAcquire = async (signal: AbortSignal): Promise<boolean> => {
    const sentAt = stamp(clock);
    const held = (await store.acquire(signal)) === "held";
    if (held && signal.aborted) await store.release();
    signal.throwIfAborted();
    if (!held || !tenure.inTime(sentAt)) return false;
    tenure.renewed(sentAt);
    return true;
  };

  return {
    lost: tenure.lost,
    isLeader: () => tenure.lastRenewal() !== undefined,
    sinceRenewal() {
      const last = tenure.lastRenewal();
      return last && elapsedSince(clock, last);
    },
    async acquire(signal) {
      const fields = { lease: keyToString(options.lease), identity };
      log.info("Waiting for the leader lease", fields);
      signal.throwIfAborted();
      while (!(await tryToAcquire(signal))) {
        await sleep(clock, timings.retryPeriodMs * (1 + JITTER_FACTOR * random()), signal);
      }
      log.info("Became leader", fields);
      renewing = renewUntilOver();
    },
    async release({ keep = false } = {}) {
      const last = tenure.lastRenewal();
      const holds = last !== undefined && tenure.inTime(last);
      tenure.stepDown();
      await renewing;
      if (holds && !keep) await store.release();
    },
  };
}
