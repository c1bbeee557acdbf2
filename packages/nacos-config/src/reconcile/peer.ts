/** Keeps out of the way of the peer operator while that is still at work. */
import type { Clock, InformerOptions, ReconcileContext, Result, SourceReader } from "@quartet/core";
import { LEASE, type Lease } from "@quartet/core/kinds";
import type { NacosResource } from "../desired/settings.ts";
import { NACOS } from "../kinds.ts";
import { updateConditions } from "../status/conditions.ts";

/** Lease of the peer's leader election. */
export const PEER_LEASE = "219866ca.nacos.io";
/** How long to wait before looking again, in milliseconds: the peer's lease duration. */
const LOOK_AGAIN_MS = 15_000;

export interface PeerOptions {
  /** Namespaces that are watched; empty means all. */
  readonly namespaces: readonly string[];
  /** Namespace of the peer's Lease beside that of the resource; empty for none. */
  readonly peerNamespace: string;
  /** True while the Lease is renewed by somebody else; asks the API server. */
  readonly foreignLease: (namespace: string, name: string) => Promise<boolean>;
}

export interface PeerWatch {
  /**
   * Whether the peer is at work in a namespace. Where its Leases are watched and the watch is synced, no request is made
   * without one. Elsewhere the API server is asked, and its refusal is thrown: nothing is written while the peer may be
   * at work.
   */
  isActive(namespace: string, cache: Pick<SourceReader, "source">): Promise<boolean>;
}

/** The Leases that are watched: those of the peer's name where the resources are. */
export function peerLeases(namespaces: readonly string[]): InformerOptions<Lease> {
  return { namespaces, fieldSelector: `metadata.name=${PEER_LEASE}`, optional: true };
}

export function createPeerWatch({ namespaces, peerNamespace, foreignLease }: PeerOptions): PeerWatch {
  return {
    async isActive(namespace, cache) {
      const leases = cache.source(LEASE);
      for (const place of new Set([namespace, peerNamespace].filter((name) => name !== ""))) {
        const isWatched = namespaces.length === 0 || namespaces.includes(place);
        const lease = leases.get({ namespace: place, name: PEER_LEASE });
        const mayBeHeld = leases.state !== "synced" || !isWatched || Boolean(lease?.spec?.holderIdentity);
        if (mayBeHeld && (await foreignLease(place, PEER_LEASE))) return true;
      }
      return false;
    },
  };
}

/** Says in the resource's conditions that nothing is done; nothing else is written. */
export async function reportPeer(
  resource: NacosResource,
  ctx: ReconcileContext,
  clock: Clock,
): Promise<Result> {
  const previous = resource.status?.operatorConditions ?? [];
  const message = "another Nacos operator holds its lease and is at work here; nothing is written";
  const ready = { type: "Ready", status: "Unknown", reason: "PeerOperatorActive", message } as const;
  const [condition] = updateConditions(previous, [ready], resource.metadata.generation ?? 0, clock.now());
  const others = previous.filter(({ type }) => type !== "Ready");
  const operatorConditions = [condition!, ...others];
  await ctx.client.patchStatus(
    NACOS,
    resource,
    { healthy: false, ...resource.status, operatorConditions },
    { signal: ctx.signal },
  );
  return { requeueAfter: LOOK_AGAIN_MS };
}
