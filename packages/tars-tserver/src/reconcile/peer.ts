/** Keeps out of the way of the peer's controller while that is at work, and tells of its webhooks. */
import {
  type Clock,
  type DeepReadonly,
  isForbidden,
  isNotFound,
  type Manager,
  type Reconcile,
  type Runnable,
  sleep,
} from "@quartet/core";
import {
  type Lease,
  MUTATING_WEBHOOK_CONFIGURATION,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from "@quartet/core/kinds";

/** Namespace of the peer, and the Leases of its leader election in its lines 1.4 and 1.2; the spelling is its own. */
export const PEER_NAMESPACE = "tars-system";
export const PEER_LEASES = ["tars-controller-manger", "tarscontroller"] as const;
/** Webhook configurations of the peer. */
export const PEER_WEBHOOKS = {
  mutating: "tars-mutating-webhook",
  validating: "tars-validating-webhook",
} as const;

/** A Lease that was not renewed for so long is nobody's, ms. */
const LEASE_MS = 30_000;
/** Time until a reconcile that had to wait is tried again, ms. */
const LOOK_AGAIN_MS = 15_000;
const FIRST_LOOK_MS = 100;
/** Pause between two reports, ms. */
const REPORT_MS = 60_000;

/** Whether the peer is at work. */
export interface PeerWatch {
  /** Its Lease while that is being renewed; `unknown` before the first look. */
  active(): DeepReadonly<Lease> | undefined | "unknown";
}

/**
 * Watches Leases by how they change, not by what their times say: clocks of machines differ. One that is seen for the
 * first time counts as renewed.
 */
export function createPeerWatch(
  leases: () => readonly DeepReadonly<Lease>[] | undefined,
  clock: Clock,
): PeerWatch {
  const renewals = new Map<string, { text: string; seenAt: number }>();
  return {
    active() {
      const now = clock.monotonic();
      const seen = leases();
      if (seen === undefined) return "unknown";
      return seen.find(({ metadata: { uid = "" }, spec }) => {
        if (!spec?.holderIdentity) return false;
        const text = JSON.stringify([spec.holderIdentity, spec.renewTime]);
        const known = renewals.get(uid);
        if (known?.text !== text) renewals.set(uid, { text, seenAt: now });
        return now - renewals.get(uid)!.seenAt < LEASE_MS;
      });
    },
  };
}

/** The reconcile, which waits while the peer is at work. */
export function unlessPeer(watch: PeerWatch, reconcile: Reconcile): Reconcile {
  return async (key, ctx) => {
    const peer = watch.active();
    if (peer === "unknown") return { requeueAfter: FIRST_LOOK_MS };
    return peer === undefined ? reconcile(key, ctx) : { requeueAfter: LOOK_AGAIN_MS };
  };
}

/** Says once a minute that nothing is done because of the peer, and at the start that its webhooks are there. */
export function peerReports(
  { client, log, clock, events }: Pick<Manager, "client" | "log" | "clock" | "events">,
  watch: PeerWatch,
): Runnable {
  const recorder = events("tars-peer");
  const warnOfWebhooks = async (): Promise<void> => {
    const found = await Promise.all([
      exists(() =>
        client.get(MUTATING_WEBHOOK_CONFIGURATION, { namespace: "", name: PEER_WEBHOOKS.mutating }),
      ),
      exists(() =>
        client.get(VALIDATING_WEBHOOK_CONFIGURATION, { namespace: "", name: PEER_WEBHOOKS.validating }),
      ),
    ]);
    const names = Object.values(PEER_WEBHOOKS).filter((_, index) => found[index]);
    if (names.length === 0) return;
    log.warn(
      "webhooks of K8SFramework are registered and will refuse this controller's writes; delete them",
      {
        configurations: names,
      },
    );
  };
  return {
    name: "tars-peer",
    async run(signal) {
      await warnOfWebhooks().catch((error) =>
        log.warn("webhooks of K8SFramework cannot be looked for", { error }),
      );
      while (!signal.aborted) {
        const lease = watch.active();
        if (lease !== undefined && lease !== "unknown") {
          const { namespace, name } = lease.metadata;
          const note = `the controller of K8SFramework holds the Lease ${namespace}/${name}: nothing is reconciled; stop it, or set --tars-force-takeover`;
          log.warn(note);
          recorder.record(lease, { type: "Warning", reason: "PeerActive", note });
        }
        await sleep(clock, REPORT_MS, signal).catch(() => {});
      }
    },
  };
}

async function exists(get: () => Promise<unknown>): Promise<boolean> {
  try {
    await get();
    return true;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return false;
    throw error;
  }
}
