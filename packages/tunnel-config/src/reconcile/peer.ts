/** Keeps out of the way of the peer operator while that is still at work. */
import type { InformerOptions, Manager, Reconcile, SourceReader } from "@quartet/core";
import { LEASE, type Lease } from "@quartet/core/kinds";
import { Problem } from "./problem.ts";

/** Lease of the peer's leader election, in its own namespace. */
export const PEER_LEASE = "9f193cf8.cloudflare-operator.io";
/** How long to wait before looking again, in milliseconds: the peer's lease duration. */
const LOOK_AGAIN_MS = 15_000;

/** Throws {@link Problem} as long as somebody else renews the Lease of the peer. */
export type PeerCheck = (cache: SourceReader) => Promise<void>;

/** The Lease that is watched. */
export function peerLease(operatorNamespace: string): InformerOptions<Lease> {
  const namespaces = [operatorNamespace];
  return { namespaces, fieldSelector: `metadata.name=${PEER_LEASE}`, optional: true };
}

/** No request is made without a Lease of the peer's name. */
export function createPeerCheck(
  { foreignLease }: Pick<Manager, "foreignLease">,
  operatorNamespace: string,
): PeerCheck {
  return async (cache) => {
    const source = cache.source(LEASE);
    const key = { namespace: operatorNamespace, name: PEER_LEASE };
    if (!source.everSynced || !source.get(key)?.spec?.holderIdentity) return;
    if (!(await foreignLease(operatorNamespace, PEER_LEASE))) return;
    const message = `another operator holds the Lease ${operatorNamespace}/${PEER_LEASE} and is at work; stop it`;
    throw new Problem("PeerOperatorActive", message, { retryAfterMs: LOOK_AGAIN_MS });
  };
}

/** A reconcile that stands still while the peer is at work: both would write the same objects. */
export function whenAlone(check: PeerCheck, reconcile: Reconcile): Reconcile {
  return async (key, ctx) => {
    try {
      await check(ctx.cache);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { requeueAfter: error.retryAfterMs ?? LOOK_AGAIN_MS };
    }
    return reconcile(key, ctx);
  };
}
