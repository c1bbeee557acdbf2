/** Life of a Tunnel or ClusterTunnel (section 5). */
import {
  type Condition,
  finalizer,
  findCondition,
  type Kind,
  type Reconcile,
  type ReconcileContext,
  type Result,
  setCondition,
} from "@quartet/core";
import type { Deployment } from "@quartet/core/kinds";
import type { CloudflareApi } from "../cloudflare/api.ts";
import { ANNOTATIONS, FINALIZER } from "../constants.ts";
import type { ConfigDocument } from "../desired/document.ts";
import { transmittedOf } from "../desired/history.ts";
import { type AnyTunnel, type Cached, DOMAIN } from "../kinds.ts";
import { type Access, resolveAccess } from "./access.ts";
import { accountOf } from "./account.ts";
import { withConditions } from "./conditions.ts";
import { Problem, problemOf } from "./problem.ts";
import { rolledBackOf } from "./rollback.ts";
import { keepCredentials, keepDeployment, keepToken } from "./tunnel-children.ts";
import { cleanUp } from "./tunnel-cleanup.ts";
import { adoptedOf, conflictOf, connectorsOf, obstacleOf, readyOf, settingsOf } from "./tunnel-conditions.ts";
import { establish, freeTunnels, isAdopted, isMoved, type RemoteTunnel } from "./tunnel-remote.ts";
import { childNamespace, storedDocument, type TunnelOptions, type TunnelRun } from "./tunnel-run.ts";

type Status = NonNullable<AnyTunnel["status"]>;

/** Reconcile of tunnels of a kind. */
export function createTunnelReconcile(kind: Kind<AnyTunnel>, options: TunnelOptions): Reconcile {
  const guard = finalizer<AnyTunnel, ReconcileContext>({ kind, name: FINALIZER, cleanup: async () => {} });
  return async (key, ctx) => {
    const tunnel = await ctx.cache.get(kind, key);
    const id = `${kind.kind}/${key.namespace}/${key.name}`;
    if (tunnel === undefined) return options.backoff.reset(id);
    const run = { kind, key, tunnel, ctx, options };
    try {
      if (tunnel.metadata.deletionTimestamp !== undefined) {
        if (!(tunnel.metadata.finalizers ?? []).includes(FINALIZER)) return;
        const wait = ctx.dryRun ? 0 : await cleanUp(run);
        if (wait > 0) return { requeueAfter: wait };
        await guard(tunnel, ctx);
        return;
      }
      if ((await guard(tunnel, ctx)) !== "present") return;
      await pass(run);
      options.backoff.reset(id);
      return;
    } catch (error) {
      return report(run, problemOf(error), id);
    }
  };
}

async function pass(run: TunnelRun): Promise<void> {
  const { tunnel, ctx, options } = run;
  const { spec, metadata } = tunnel;
  if (metadata.annotations?.[ANNOTATIONS.pause] === "true")
    throw new Problem("Paused", "nothing is changed while the annotation pause is set");
  if (spec?.newTunnel !== undefined && spec.existingTunnel !== undefined) {
    throw new Problem(
      "InvalidSpec",
      "spec.newTunnel and spec.existingTunnel are mutually exclusive; remove one",
      { event: "ErrSpecTunnel" },
    );
  }
  const access = await resolveAccess(spec?.cloudflare, metadata.namespace ?? "", ctx.cache, options);
  const account = await tunnelAccount(tunnel, access);
  const document = await storedDocument(tunnel.status?.tunnelId, ctx.cache, options.operatorNamespace);
  const remote = await identify(run, access.api, account, document);
  if (remote === undefined) return;
  const { image, secrets } = options;
  const children = { tunnel, remote, namespace: childNamespace(run), image, ctx, secrets };
  if (ctx.dryRun !== true) await keepCredentials(children);
  const token = await keepToken(children, access.api);
  await dropLegacyToken(run);
  // cloudflared without a configuration answers 503: it starts when there is one (TUN-213).
  const synced = document?.configVersion !== undefined && document.tunnelId === remote.id;
  const deployment = synced ? await keepDeployment(children, token) : undefined;
  await writeStatus(run, remote, document, deployment);
}

/** The account of the tunnel; another one has another tunnel, which only its identifier or name can be (TUN-226). */
async function tunnelAccount(tunnel: Cached<AnyTunnel>, access: Access): Promise<string> {
  const { accountId = "", tunnelId = "", tunnelName = "" } = tunnel.status ?? {};
  const held = tunnelId !== "" && !isMoved(tunnel.spec?.existingTunnel, tunnelId, tunnelName);
  if (!held || accountId === "") return accountOf(access);
  if ((access.accountId || accountId) === accountId) return accountId;
  const message =
    `tunnel ${tunnelId} is in account ${accountId}, the credentials are for account ${access.accountId}; ` +
    "put those of its account back, or name a tunnel of the other account by spec.existingTunnel";
  throw new Problem("ImmutableField", message);
}

/** The tunnel in the account. Its identifier is in the status before anything else is made (TUN-205). */
async function identify(
  run: TunnelRun,
  api: CloudflareApi,
  account: string,
  document: ConfigDocument | undefined,
): Promise<RemoteTunnel | undefined> {
  const { tunnel, ctx } = run;
  const { tunnelId, tunnelName: name = "" } = tunnel.status ?? {};
  const moved = tunnelId ? isMoved(tunnel.spec?.existingTunnel, tunnelId, name) : false;
  const assertFree = await freeTunnels(run);
  if (tunnelId && !moved) assertFree(tunnelId);
  const lost = document?.syncStatus === "TunnelDeleted" && tunnelId !== undefined;
  const held = { id: tunnelId ?? "", name, account, adopted: isAdopted(tunnel) };
  if (tunnelId && !moved && !lost) return renamed(run, api, held);
  if (tunnelId && lost && (await api.tunnel(account, tunnelId)) !== undefined) return held;
  if (ctx.dryRun) return undefined;
  const remote = await establish(tunnel, account, api, ctx.events, assertFree);
  if (remote.id === tunnelId) return remote;
  if (moved) {
    const note = `tunnel ${tunnelId} is left to itself; ${remote.id} is the tunnel from now on`;
    ctx.events.record(tunnel, { type: "Normal", reason: "Updated", note, distinct: note });
  }
  const state: Status["state"] = "creating";
  const status = {
    ...tunnel.status,
    tunnelId: remote.id,
    tunnelName: remote.name,
    accountId: account,
    zoneId: tunnel.status?.zoneId ?? "",
    adopted: remote.adopted || undefined,
    state,
  };
  await ctx.client.patchStatus<AnyTunnel>(run.kind, tunnel, status);
  return remote;
}

/** A changed name is carried over (TUN-214), but not to a tunnel that was there before (TUN-225). */
async function renamed(
  { tunnel, ctx }: TunnelRun,
  api: CloudflareApi,
  remote: RemoteTunnel,
): Promise<RemoteTunnel> {
  const name = tunnel.spec?.newTunnel?.name;
  if (remote.adopted || !name || name === remote.name || ctx.dryRun) return remote;
  await api.renameTunnel(remote.account, remote.id, name);
  return { ...remote, name };
}

async function dropLegacyToken({ tunnel, kind, key, ctx }: TunnelRun): Promise<void> {
  if (tunnel.metadata.annotations?.[ANNOTATIONS.legacyToken] === undefined) return;
  const body = { metadata: { annotations: { [ANNOTATIONS.legacyToken]: null } } };
  await ctx.client.patch(kind, key, { type: "merge", body });
}

async function writeStatus(
  run: TunnelRun,
  remote: RemoteTunnel,
  document: ConfigDocument | undefined,
  deployment: Cached<Deployment> | undefined,
): Promise<void> {
  const { tunnel, ctx, kind, options } = run;
  const generation = tunnel.metadata.generation ?? 0;
  const synced = document?.syncStatus === "Synced";
  const bad = obstacleOf(tunnel, remote);
  const rejected = (document?.rejected ?? []).length > 0;
  const syncReason = synced
    ? document.frozen !== undefined
      ? "RolledBack"
      : rejected
        ? "SyncedWithRejections"
        : "Synced"
    : document?.syncStatus === "Error"
      ? (document.lastReason ?? "SyncFailed")
      : "Pending";
  const active = synced && deployment !== undefined;
  const available = (deployment?.status?.availableReplicas ?? 0) > 0;
  const wanted = [
    { type: "ConfigSynced", on: synced, reason: syncReason, message: document?.lastError ?? "" },
    { type: "DeploymentAvailable", on: available, reason: available ? "Available" : "Unavailable" },
    conflictOf(document),
    ...settingsOf(tunnel, document),
    ...rolledBackOf(tunnel, document),
    ...connectorsOf(document),
    ...adoptedOf(tunnel, remote),
    readyOf(bad, synced, active, document),
  ];
  const conditions = withConditions(tunnel.status?.conditions, wanted, generation, options.clock.now());
  const hosts = document === undefined ? [] : transmittedOf(document).hostnames;
  const status = {
    ...tunnel.status,
    tunnelId: remote.id,
    tunnelName: remote.name,
    accountId: remote.account,
    adopted: remote.adopted || undefined,
    zoneId: await zoneOf(run),
    state: bad !== undefined ? "error" : active ? "active" : "creating",
    observedGeneration: generation,
    ...(document?.configVersion !== undefined && { configVersion: document.configVersion }),
    syncedHostnames: synced ? [...hosts] : [...(tunnel.status?.syncedHostnames ?? [])],
    conditions,
  };
  await ctx.client.patchStatus<AnyTunnel>(kind, tunnel, status);
}

/** Zone of the domain that the tunnel names, as far as it is known in the cluster. */
async function zoneOf({ tunnel, ctx }: TunnelRun): Promise<string> {
  const { zoneId, domain = "" } = tunnel.spec?.cloudflare ?? {};
  const named = (await ctx.cache.list(DOMAIN)).find(
    ({ spec }) => domain !== "" && spec.domain.toLowerCase() === domain.toLowerCase(),
  );
  return zoneId || named?.status?.zoneId || tunnel.status?.zoneId || "";
}

/** Tells an obstacle in the status, and says when to look again. */
async function report(run: TunnelRun, problem: Problem, id: string): Promise<Result> {
  const { kind, tunnel, ctx, options } = run;
  const observedGeneration = tunnel.metadata.generation ?? 0;
  const { reason, message } = problem;
  const before = findCondition(tunnel.status?.conditions as Condition[] | undefined, "Ready");
  if (reason === "RateLimited" && before !== undefined)
    return problem.retryAfterMs === undefined ? {} : { requeueAfter: problem.retryAfterMs };
  const input = { type: "Ready", status: "False" as const, reason, message, observedGeneration };
  const { conditions, changed } = setCondition(
    tunnel.status?.conditions as Condition[] | undefined,
    input,
    options.clock.now(),
  );
  if (changed) {
    const deleting = tunnel.metadata.deletionTimestamp !== undefined;
    const state = deleting ? "deleting" : reason === "Paused" ? (tunnel.status?.state ?? "pending") : "error";
    // Merged into what the pass may have written itself: the identifier must not be lost.
    const fresh = (await ctx.cache.get(kind, run.key)) ?? tunnel;
    const next = { ...fresh.status, state, observedGeneration, conditions };
    if (fresh.status === undefined) {
      // The fields that every status has, and only where nobody has written one meanwhile (D12).
      const blank = { tunnelId: "", tunnelName: "", accountId: "", zoneId: "" };
      await ctx.client.updateStatus<AnyTunnel>(kind, {
        ...fresh,
        status: { ...blank, ...next },
      } as AnyTunnel);
    } else await ctx.client.patchStatus<AnyTunnel>(kind, fresh, next);
    if (before?.reason !== reason || before.message !== message) {
      ctx.events.record(tunnel, { type: "Warning", reason: problem.event, note: message, distinct: message });
    }
  }
  const pause = problem.retryAfterMs ?? (problem.transient ? options.backoff.next(id) : undefined);
  return pause === undefined ? {} : { requeueAfter: pause };
}
