/**
 * Leader election by a Lease. One process holds it and renews it; the others take it over when they have seen no
 * change for its duration, by their own clock, or when the holder gave it back.
 */
import { isAlreadyExists, isConflict, isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import { type Clock, sleep } from "../clock.ts";
import { JITTER_FACTOR, type LeaseTimings } from "../config/lease-timings.ts";
import { keyToString, type ObjectKey } from "../object.ts";
import type { LeaderObserver } from "../observe/leader-metrics.ts";
import type { Logger } from "../observe/types.ts";
import { LeadershipLostError } from "./errors.ts";
import type { Fence } from "./fence.ts";
import {
  heldSpec,
  isHeld,
  LEASE_KIND,
  type Lease,
  type LeaseSpec,
  type LeaseView,
  observeLease,
  releasedSpec,
} from "./lease.ts";
import { elapsedSince, type Stamp, stamp } from "./stamp.ts";

/** Shortest limit of one request for the Lease, whatever the renew deadline (CORE-108). */
const MIN_REQUEST_TIMEOUT_MS = 1_000;

export interface LeaderElectorOptions {
  client: Pick<Client, "get" | "create" | "update">;
  clock: Clock;
  log: Logger;
  /** Namespace and name of the Lease. */
  lease: ObjectKey;
  /** Unique name of this process. */
  identity: string;
  timings: LeaseTimings;
  /** Told of every renewal. */
  fence: Fence;
  observer?: LeaderObserver;
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
  const { clock, log, identity, timings, fence, observer } = options;
  const lost = new AbortController();
  const stopRenewing = new AbortController();
  const store = leaseStore(options);
  let lastRenewal: Stamp | undefined;
  let renewing: Promise<void> = Promise.resolve();
  let cancelDeadline = (): void => {};

  const renewed = (sentAt: Stamp): void => {
    lastRenewal = sentAt;
    fence.renewed(sentAt);
    cancelDeadline();
    const left = timings.renewDeadlineMs - elapsedSince(clock, sentAt);
    cancelDeadline = clock.setTimer(Math.max(0, left), () => lose("not renewed within the renew deadline"));
  };

  const stepDown = (): void => {
    lastRenewal = undefined;
    fence.shut();
    cancelDeadline();
    stopRenewing.abort();
    observer?.onLeading(false);
  };

  const lose = (reason: string): void => {
    if (lastRenewal === undefined) return;
    stepDown();
    lost.abort(new LeadershipLostError(reason));
  };

  /** A process that was stopped must not send a late renewal. */
  const inTime = (moment: Stamp): boolean => elapsedSince(clock, moment) < timings.renewDeadlineMs;

  const renewOnce = async (): Promise<void> => {
    if (lastRenewal === undefined) return;
    if (!inTime(lastRenewal)) return lose("not renewed within the renew deadline");
    const sentAt = stamp(clock);
    const outcome = await store.renew(stopRenewing.signal);
    if (lastRenewal === undefined) return;
    if (outcome === "taken") return lose(`held by ${store.holder()}`);
    if (outcome === "held" && inTime(sentAt)) renewed(sentAt);
  };

  const renewUntilStopped = async (): Promise<void> => {
    while (!stopRenewing.signal.aborted) {
      await sleep(clock, timings.retryPeriodMs, stopRenewing.signal).catch(() => undefined);
      if (!stopRenewing.signal.aborted) await renewOnce();
    }
  };

  return {
    lost: lost.signal,
    isLeader: () => lastRenewal !== undefined,
    sinceRenewal: () => (lastRenewal === undefined ? undefined : elapsedSince(clock, lastRenewal)),
    async acquire(signal) {
      log.info("Waiting for the leader lease", { lease: keyToString(options.lease), identity });
      const random = options.random ?? Math.random;
      for (;;) {
        signal.throwIfAborted();
        const sentAt = stamp(clock);
        const outcome = await store.acquire(signal);
        if (outcome === "held" && signal.aborted) await store.release();
        signal.throwIfAborted();
        if (outcome === "held" && inTime(sentAt)) {
          renewed(sentAt);
          break;
        }
        await sleep(clock, timings.retryPeriodMs * (1 + JITTER_FACTOR * random()), signal);
      }
      log.info("Became leader", { lease: keyToString(options.lease), identity });
      observer?.onLeading(true);
      renewing = renewUntilStopped();
    },
    async release({ keep = false } = {}) {
      const holds = lastRenewal !== undefined && inTime(lastRenewal);
      stepDown();
      await renewing;
      if (!holds || keep) return;
      await store.release();
    },
  };
}

type Attempt = "held" | "taken" | "failed";

interface LeaseStore {
  /** Reads the Lease and takes it if it is free. A take that was begun is not cut off, so its outcome is known. */
  acquire(signal: AbortSignal): Promise<Attempt>;
  /** Renews by the last seen version; reads again when that fails. */
  renew(signal: AbortSignal): Promise<Attempt>;
  release(): Promise<void>;
  /** Who holds the Lease by the last look. */
  holder(): string;
}

/** Requests for the Lease with the memory of what was last seen. Failures are logged, not thrown. */
function leaseStore(options: LeaderElectorOptions): LeaseStore {
  const { client, clock, log, identity, timings, lease: key, observer } = options;
  const timeoutMs = Math.max(MIN_REQUEST_TIMEOUT_MS, timings.renewDeadlineMs / 2);
  let view: LeaseView | undefined;

  const holder = (): string => view?.lease.spec?.holderIdentity ?? "";
  const see = (lease: Lease): LeaseView => {
    const before = holder();
    view = observeLease(view, lease, clock);
    if (holder() !== before && holder() !== "" && holder() !== identity)
      log.info("Lease has a new holder", { holder: holder() });
    return view;
  };

  const write = async (spec: LeaseSpec, signal?: AbortSignal): Promise<Attempt> => {
    const request = { timeoutMs, ...(signal && { signal }) };
    try {
      if (view === undefined) {
        const metadata = { name: key.name, namespace: key.namespace };
        see(
          await client.create(
            LEASE_KIND,
            { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec },
            request,
          ),
        );
      } else see(await client.update(LEASE_KIND, { ...view.lease, spec }, request));
      return "held";
    } catch (error) {
      // Losing a race is how elections go; the next look tells who won.
      if (!isConflict(error) && !isAlreadyExists(error)) fail("Lease not written", error, signal);
      return "failed";
    }
  };

  const fail = (msg: string, error: unknown, signal: AbortSignal | undefined): void => {
    if (signal?.aborted !== true) log.warn(msg, { lease: keyToString(key), error });
  };

  const read = async (signal?: AbortSignal): Promise<boolean> => {
    try {
      see(await client.get(LEASE_KIND, key, { timeoutMs, ...(signal && { signal }) }));
    } catch (error) {
      if (!isNotFound(error)) {
        fail("Lease not read", error, signal);
        return false;
      }
      view = undefined;
    }
    return true;
  };

  const take = (signal?: AbortSignal): Promise<Attempt> =>
    write(heldSpec(view?.lease.spec, identity, timings.leaseDurationMs, clock.now()), signal);

  return {
    holder,
    async acquire(signal) {
      if (!(await read(signal))) return "failed";
      const other = view !== undefined && holder() !== identity;
      return other && isHeld(view!, clock, timings.leaseDurationMs) ? "taken" : take();
    },
    async renew(signal) {
      if ((await take(signal)) === "held") return "held";
      if (signal.aborted) return "failed";
      observer?.onSlowPath();
      if (!(await read(signal))) return "failed";
      return holder() === "" || holder() === identity ? take(signal) : "taken";
    },
    async release() {
      if (holder() !== identity) return;
      if ((await write(releasedSpec(view?.lease.spec, clock.now()))) === "held") return;
      // The last renewal may have arrived although its answer was cut off.
      if (!(await read()) || holder() !== identity) return;
      await write(releasedSpec(view?.lease.spec, clock.now()));
    },
  };
}
