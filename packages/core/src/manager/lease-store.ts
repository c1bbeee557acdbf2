/** Requests for the Lease of leader election, with the memory of what was last seen. */
import { isAlreadyExists, isConflict, isNotFound } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { LEASE, type Lease, type LeaseSpec } from "../kinds/index.ts";
import { keyToString, type ObjectKey } from "../object.ts";
import type { LeaderObserver } from "../observe/leader-metrics.ts";
import type { Logger } from "../observe/types.ts";
import { heldSpec, isHeld, type LeaseView, observeLease, releasedSpec } from "./lease.ts";
import type { LeaseTimings } from "./lease-timings.ts";

/** Shortest limit of one request for the Lease, whatever the renew deadline (CORE-108). */
const MIN_REQUEST_TIMEOUT_MS = 1_000;

export interface LeaseStoreOptions {
  client: Pick<Client, "get" | "create" | "update">;
  clock: Clock;
  log: Logger;
  /** Namespace and name of the Lease. */
  lease: ObjectKey;
  /** Unique name of this process. */
  identity: string;
  timings: LeaseTimings;
  observer?: LeaderObserver;
}

type Attempt = "held" | "taken" | "failed";

export interface LeaseStore {
  /** Reads the Lease and takes it if it is free. A take that was begun is not cut off, so its outcome is known. */
  acquire(signal: AbortSignal): Promise<Attempt>;
  /** Renews by the last seen version; reads again when that fails. */
  renew(signal: AbortSignal): Promise<Attempt>;
  release(): Promise<void>;
  /** Who holds the Lease by the last look. */
  holder(): string;
}

/** Store of one Lease. Failures are logged, not thrown. */
export function createLeaseStore(options: LeaseStoreOptions): LeaseStore {
  const { clock, identity, timings, observer } = options;
  const memory = leaseMemory(options);
  const { holder, read, write } = memory;
  const take = (signal?: AbortSignal): Promise<Attempt> =>
    write(heldSpec(memory.view()?.lease.spec, identity, timings.leaseDurationMs, clock.now()), signal);
  const giveBack = (): Promise<Attempt> => write(releasedSpec(memory.view()?.lease.spec, clock.now()));

  return {
    holder,
    async acquire(signal) {
      if (!(await read(signal))) return "failed";
      const view = memory.view();
      const other = view !== undefined && holder() !== identity;
      return other && isHeld(view, clock, timings.leaseDurationMs) ? "taken" : take();
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
      if ((await giveBack()) === "held") return;
      // The last renewal may have arrived although its answer was cut off.
      if ((await read()) && holder() === identity) await giveBack();
    },
  };
}

interface LeaseMemory {
  view(): LeaseView | undefined;
  holder(): string;
  /** Looks at the Lease; false when that failed. */
  read(signal?: AbortSignal): Promise<boolean>;
  /** Writes the Lease over the version last seen. */
  write(spec: LeaseSpec, signal?: AbortSignal): Promise<"held" | "failed">;
}

/** Single requests, each of which leaves what it saw in `view`. */
function leaseMemory(options: LeaseStoreOptions): LeaseMemory {
  const { client, clock, log, identity, timings, lease: key } = options;
  const timeoutMs = Math.max(MIN_REQUEST_TIMEOUT_MS, timings.renewDeadlineMs / 2);
  const limits = (signal?: AbortSignal) => ({ timeoutMs, ...(signal && { signal }) });
  let view: LeaseView | undefined;

  const holder = (): string => view?.lease.spec?.holderIdentity ?? "";
  const see = (lease: Lease): void => {
    const before = holder();
    view = observeLease(view, lease, clock);
    const isNew = holder() !== before && holder() !== "" && holder() !== identity;
    if (isNew) log.info("Lease has a new holder", { holder: holder() });
  };
  const fail = (msg: string, error: unknown, signal: AbortSignal | undefined): void => {
    if (signal?.aborted !== true) log.warn(msg, { lease: keyToString(key), error });
  };

  return {
    view: () => view,
    holder,
    async read(signal) {
      try {
        see(await client.get(LEASE, key, limits(signal)));
        return true;
      } catch (error) {
        if (isNotFound(error)) view = undefined;
        else fail("Lease not read", error, signal);
        return isNotFound(error);
      }
    },
    async write(spec, signal) {
      const metadata = { name: key.name, namespace: key.namespace };
      const fresh: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
      try {
        if (view === undefined) see(await client.create(LEASE, fresh, limits(signal)));
        else see(await client.update(LEASE, { ...view.lease, spec }, limits(signal)));
        return "held";
      } catch (error) {
        // Losing a race is how elections go; the next look tells who won.
        if (!isConflict(error) && !isAlreadyExists(error)) fail("Lease not written", error, signal);
        return "failed";
      }
    },
  };
}
