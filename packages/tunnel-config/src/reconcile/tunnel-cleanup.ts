/** What must go before a tunnel object may (TUN-218 to TUN-222). */
import { isControlledBy, keyOf } from "@quartet/core";
import { DEPLOYMENT, POD } from "@quartet/core/kinds";
import type { CloudflareApi } from "../cloudflare/api.ts";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS, PREFIX } from "../constants.ts";
import { labelValue } from "../desired/cloudflared.ts";
import { sourceKey } from "../desired/document.ts";
import { type Access, resolveAccess } from "./access.ts";
import { Problem } from "./problem.ts";
import { adoptedText, isAdopted, isExisting, isShared } from "./tunnel-remote.ts";
import { childNamespace, storedDocument, type TunnelRun } from "./tunnel-run.ts";

/** Longest waits, in milliseconds from the begin of the deletion: for the configuration, and for the pods. */
const SYNC_LIMIT_MS = 30_000;
const PODS_LIMIT_MS = 90_000;
const LOOK_AGAIN_MS = 1_000;
/** Time after which a tunnel whose credentials are gone is given up, in milliseconds (TUN-1013). */
const GIVE_UP_MS = 900_000;

/** One step of the end; milliseconds until the next, 0 when all is done. */
export async function cleanUp(run: TunnelRun): Promise<number> {
  const { tunnel, ctx, options } = run;
  const { status, metadata, spec } = tunnel;
  const tunnelId = status?.tunnelId;
  const age = options.clock.now() - Date.parse(metadata.deletionTimestamp ?? "");
  if (tunnelId && age < SYNC_LIMIT_MS && !(await settingsAreGone(run, tunnelId))) return LOOK_AGAIN_MS;
  const namespace = childNamespace(run);
  const deployment = await ctx.cache.get(DEPLOYMENT, { namespace, name: metadata.name ?? "" });
  if (deployment !== undefined && isControlledBy(deployment, tunnel))
    await ctx.client.deleteIfExists(DEPLOYMENT, keyOf(deployment));
  if (!tunnelId || isExisting(tunnel) || spec?.deletionPolicy === "Orphan") return 0;
  if (isAdopted(tunnel)) {
    const note = adoptedText({ id: tunnelId, name: status.tunnelName ?? "" });
    ctx.events.record(tunnel, { type: "Normal", reason: "Kept", note });
    return 0;
  }
  const selector = `${PREFIX}/app=cloudflared,${PREFIX}/tunnel=${labelValue(metadata.name ?? "")}`;
  if (age < PODS_LIMIT_MS) {
    const pods = await ctx.client.list(POD, { namespace, labelSelector: selector, metadataOnly: true });
    if (pods.items.length > 0) return LOOK_AGAIN_MS;
  }
  if (await isShared(run, tunnelId)) return orphaned(run, "another object has it too");
  if (metadata.annotations?.[ANNOTATIONS.forceDelete] === "true") return orphaned(run, "force-delete is set");
  let access: Access;
  try {
    access = await resolveAccess(spec?.cloudflare, metadata.namespace ?? "", ctx.cache, options);
  } catch (error) {
    if (error instanceof Problem && age > GIVE_UP_MS) return orphaned(run, error.message);
    throw error;
  }
  const account = status?.accountId || access.accountId;
  if (account === undefined || account === "") return orphaned(run, "its account is unknown");
  await remove(access.api, account, tunnelId);
  ctx.events.record(tunnel, {
    type: "Normal",
    reason: "Deleted",
    note: `tunnel ${tunnelId} is deleted in the account`,
  });
  return 0;
}

/** Whether the configuration was transmitted without what this object contributed. */
async function settingsAreGone(run: TunnelRun, tunnelId: string): Promise<boolean> {
  const document = await storedDocument(tunnelId, run.ctx.cache, run.options.operatorNamespace);
  if (document === undefined) return true;
  const { kind, metadata } = run.tunnel;
  const own = sourceKey({ kind, namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
  return document.sources[own] === undefined && document.syncStatus !== "Pending";
}

async function remove(api: CloudflareApi, account: string, tunnelId: string): Promise<void> {
  await api.dropConnections(account, tunnelId);
  try {
    await api.deleteTunnel(account, tunnelId);
  } catch (error) {
    // Connections and routes are on their way out, often by the same hand.
    if (!(error instanceof ApiError && error.class === "validation")) throw error;
    throw new Problem("DeleteFailed", error.message, { transient: true });
  }
}

function orphaned({ tunnel, ctx }: TunnelRun, why: string): number {
  const note = `tunnel ${tunnel.status?.tunnelId} stays in the account: ${why}`;
  ctx.events.record(tunnel, { type: "Warning", reason: "Orphaned", note });
  return 0;
}
