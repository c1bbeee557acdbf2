/**
 * ConfigMaps that a tunnel object without an identifier may turn out to own (TUN-314). Without a wait, what others left
 * would be taken for an orphan at the start, and an empty configuration transmitted.
 */
import type { Clock } from "@quartet/core";
import { CLUSTER_TUNNEL } from "../kinds.ts";
import type { StoredConfig } from "./sync-store.ts";
import type { World } from "./world.ts";

/** Time until such a ConfigMap is looked at again, in milliseconds. */
const UNCLAIMED_MS = 10_000;
/** Longest wait for a Tunnel, which any tenant can make and leave without an identifier, in milliseconds. */
const TENANT_MS = 600_000;

export interface ClaimWait {
  /** Milliseconds until an ownerless ConfigMap is looked at again; nothing when it is an orphan. */
  next(name: string, stored: StoredConfig, tunnelId: string, world: World): number | undefined;
  forget(name: string): void;
}

export function createClaimWait(clock: Clock): ClaimWait {
  const since = new Map<string, number>();
  return {
    next(name, stored, tunnelId, world) {
      const claimants = claimantsOf(stored, tunnelId, world);
      if (claimants.length === 0) return undefined;
      if (claimants.some(({ kind }) => kind === CLUSTER_TUNNEL.kind)) return UNCLAIMED_MS;
      const now = clock.monotonic();
      const start = since.get(name) ?? now;
      since.set(name, start);
      return now - start < TENANT_MS ? UNCLAIMED_MS : undefined;
    },
    forget: (name) => void since.delete(name),
  };
}

/**
 * Tunnel objects without an identifier that may be those of the ConfigMap: one that names it, or any for a document that
 * was never transmitted from here, such as the peer's.
 */
function claimantsOf({ document }: StoredConfig, tunnelId: string, { tunnels }: World): World["tunnels"] {
  return tunnels.filter(
    ({ status, spec, metadata }) =>
      (status?.tunnelId ?? "") === "" &&
      metadata.deletionTimestamp === undefined &&
      (spec?.existingTunnel?.id === tunnelId || document.configVersion === undefined),
  );
}
