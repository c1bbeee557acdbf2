/** The tunnel in the account: found, adopted or created (TUN-203 to TUN-209, TUN-215). */
import { randomBytes } from "node:crypto";
import type { EventRecorder, SourceReader } from "@quartet/core";
import type { CloudflareApi, Tunnel } from "../cloudflare/api.ts";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import type { TunnelIdentity } from "../desired/cloudflared.ts";
import { isHeldElsewhere } from "../desired/holders.ts";
import { type AnyTunnel, type Cached, CLUSTER_TUNNEL, TUNNEL } from "../kinds.ts";
import { Problem } from "./problem.ts";
import type { TunnelRun } from "./tunnel-run.ts";

/** Bytes of the secret of a tunnel. */
const SECRET_BYTES = 32;
/** Time after which a name that is taken is looked at again, in milliseconds. */
const TAKEN_MS = 300_000;
const NAME_TAKEN = 1013;

export interface RemoteTunnel extends TunnelIdentity {
  /** Whether it was there before the object, so that it keeps its name and stays (TUN-225). */
  readonly adopted: boolean;
  /** Known only to whoever has just created the tunnel. */
  readonly secret?: string;
}

/** Name of a tunnel that the object creates (D20). */
export function tunnelName({ spec, metadata }: Cached<AnyTunnel>): string {
  const own =
    metadata.namespace === undefined ? (metadata.name ?? "") : `${metadata.namespace}-${metadata.name}`;
  return spec?.newTunnel?.name || own;
}

/** Whether the spec names the tunnel as one that is there already. */
export function isExisting({ spec }: Cached<AnyTunnel>): boolean {
  return spec?.existingTunnel !== undefined;
}

/** Whether the tunnel was there before the object, and nobody has said that it is the object's own from now on (TUN-225). */
export function isAdopted(tunnel: Cached<AnyTunnel>): boolean {
  return isExisting(tunnel) || (tunnel.status?.adopted === true && !mayAdopt(tunnel));
}

function mayAdopt({ metadata }: Cached<AnyTunnel>): boolean {
  return metadata.annotations?.[ANNOTATIONS.adopt] === "true";
}

/** Which remedies there are for a tunnel that keeps its name and stays. */
export function adoptedText({ id, name }: Pick<RemoteTunnel, "id" | "name">): string {
  return (
    `tunnel ${name} (${id}) was there before this object: it keeps its name, and stays when the object goes; ` +
    `the annotation ${ANNOTATIONS.adopt}: "true" makes it the object's own, a new object makes a new tunnel`
  );
}

/** Whether another tunnel is named than the one that the object has: by its identifier, else by its name (TUN-214). */
export function isMoved(
  wanted: NonNullable<AnyTunnel["spec"]>["existingTunnel"],
  tunnelId: string,
  tunnelName: string,
): boolean {
  if (wanted?.id) return wanted.id !== tunnelId;
  return Boolean(wanted?.name) && tunnelName !== "" && wanted?.name !== tunnelName;
}

/** Throws {@link Problem} for the tunnel of an identifier that other objects have (TUN-224). */
export type AssertFree = (tunnelId: string) => void;

/** By the tunnel objects of the cluster. */
export async function freeTunnels({ tunnel, ctx, options }: TunnelRun): Promise<AssertFree> {
  const all = await allTunnels(ctx.cache);
  return (tunnelId) => {
    if (!isHeldElsewhere(tunnel, tunnelId, all, options.operatorNamespace)) return;
    const message = `tunnel ${tunnelId} is that of a ClusterTunnel, or of a Tunnel in another namespace`;
    throw new Problem("AdoptionConflict", message, { retryAfterMs: TAKEN_MS });
  };
}

/** Whether another object that lives has the tunnel too. */
export async function isShared({ tunnel, ctx }: TunnelRun, tunnelId: string): Promise<boolean> {
  return (await allTunnels(ctx.cache)).some(
    ({ status, metadata }) =>
      status?.tunnelId === tunnelId &&
      metadata.uid !== tunnel.metadata.uid &&
      metadata.deletionTimestamp === undefined,
  );
}

async function allTunnels(cache: SourceReader): Promise<Cached<AnyTunnel>[]> {
  const [cluster, own] = await Promise.all([cache.list(CLUSTER_TUNNEL), cache.list(TUNNEL)]);
  return [...cluster, ...own];
}

/** Finds or creates the tunnel; throws {@link Problem} where it must be left alone. */
export async function establish(
  tunnel: Cached<AnyTunnel>,
  account: string,
  api: CloudflareApi,
  events: EventRecorder,
  assertFree: AssertFree,
): Promise<RemoteTunnel> {
  const { existingTunnel } = tunnel.spec ?? {};
  if (existingTunnel !== undefined) {
    const found = await existing(existingTunnel, account, api);
    assertFree(found.id);
    return found;
  }
  const name = tunnelName(tunnel);
  const [found] = await api.tunnelsNamed(account, name);
  const take = (other: Tunnel): RemoteTunnel => {
    assertFree(other.id);
    return adopt(tunnel, other, account, events);
  };
  if (found !== undefined) return take(found);
  const secret = randomBytes(SECRET_BYTES).toString("base64");
  try {
    const created = await api.createTunnel(account, name, secret);
    events.record(tunnel, {
      type: "Normal",
      reason: "Created",
      note: `tunnel ${name} is created: ${created.id}`,
    });
    return { id: created.id, name, account, adopted: false, secret };
  } catch (error) {
    if (!(error instanceof ApiError && error.is(NAME_TAKEN))) throw error;
    const [other] = await api.tunnelsNamed(account, name);
    if (other === undefined) throw error;
    return take(other);
  }
}

async function existing(
  { id, name }: NonNullable<NonNullable<Cached<AnyTunnel>["spec"]>["existingTunnel"]>,
  account: string,
  api: CloudflareApi,
): Promise<RemoteTunnel> {
  const byId = id ? await api.tunnel(account, id) : undefined;
  if (byId !== undefined) return { id: byId.id, name: byId.name, account, adopted: true };
  const named = name ? await api.tunnelsNamed(account, name) : [];
  const [found] = named;
  if (found !== undefined && named.length === 1)
    return { id: found.id, name: found.name, account, adopted: true };
  const message =
    named.length > 1
      ? "more than one tunnel"
      : `no tunnel in response: neither id ${id ?? "(none)"} nor name ${name ?? "(none)"}`;
  throw new Problem("TunnelNotFound", message, { retryAfterMs: TAKEN_MS });
}

/** A tunnel of the wanted name is taken over unless somebody else's cloudflared is connected to it (D22). */
function adopt(
  tunnel: Cached<AnyTunnel>,
  found: Tunnel,
  account: string,
  events: EventRecorder,
): RemoteTunnel {
  const live = found.status === "healthy" || found.status === "degraded";
  if (live && !mayAdopt(tunnel)) {
    const message =
      `the account has a tunnel ${found.name} (${found.id}) that is ${found.status}; ` +
      `take it over with the annotation ${ANNOTATIONS.adopt}: "true", or choose another name`;
    throw new Problem("TunnelNameConflict", message, { retryAfterMs: TAKEN_MS });
  }
  events.record(tunnel, {
    type: "Normal",
    reason: "Adopted",
    note: `tunnel ${found.name} (${found.id}) is taken over`,
  });
  // One that never had a connector is what a creation leaves that was not noted (TUN-205).
  const adopted = found.status !== "inactive" && !mayAdopt(tunnel);
  return { id: found.id, name: found.name, account, adopted };
}
