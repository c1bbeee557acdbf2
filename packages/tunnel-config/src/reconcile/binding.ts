/** TunnelBindings: their status, their DNS records, and what their owners should know. Rules are the sync's. */
import type { Clock, Reconcile, ReconcileContext } from "@quartet/core";
import { FINALIZER, PREFIX, PREVIOUS_HOSTNAMES } from "../constants.ts";
import { dnsObjects } from "../desired/dns-objects.ts";
import { type Conflict, rejectionText } from "../desired/document.ts";
import { hostnameProblem } from "../desired/hostname.ts";
import {
  type BoundService,
  bindingRef,
  bindingSource,
  leavesDns,
  subjectsOf,
} from "../desired/sources/binding.ts";
import { hostsOf } from "../desired/sources/ingress.ts";
import { refText } from "../desired/targets.ts";
import { type Cached, TUNNEL_BINDING, type TunnelBinding } from "../kinds.ts";
import { type Wanted, withConditions } from "./conditions.ts";
import { keepDnsRecords } from "./dns-children.ts";
import { dropFinalizer } from "./drop-finalizer.ts";
import { createHostLimits } from "./host-limits.ts";
import { createNoticeBook } from "./notice-book.ts";
import { storedDocument } from "./tunnel-run.ts";
import { readWorld, servicesNamed } from "./world.ts";

export interface BindingOptions {
  readonly operatorNamespace: string;
  readonly clock: Clock;
}

const DEPRECATED =
  "TunnelBinding is deprecated: write an Ingress with a TunnelIngressClassConfig, or an HTTPRoute, instead";

/** Reconcile of TunnelBindings. */
export function createBindingReconcile(options: BindingOptions): Reconcile {
  const book = createNoticeBook();
  const limits = createHostLimits();
  return async (key, ctx) => {
    const binding = await ctx.cache.get(TUNNEL_BINDING, key);
    if (binding === undefined) return book.forget(key);
    // Rules and records go by themselves here (TUN-423).
    await dropFinalizer(TUNNEL_BINDING, binding, FINALIZER, ctx);
    if (binding.metadata.deletionTimestamp !== undefined) return;
    // Once for each generation, over restarts as well (TUN-425).
    if (binding.status?.observedGeneration !== binding.metadata.generation)
      ctx.events.record(binding, { type: "Warning", reason: "Deprecated", note: DEPRECATED });
    const world = await readWorld(ctx.cache, options.operatorNamespace);
    const ref = bindingRef(binding);
    const tunnel = ref === undefined ? undefined : world.tunnel(ref);
    const tunnelId = tunnel?.status?.tunnelId;
    if (tunnel === undefined || !tunnelId) {
      const message =
        ref === undefined
          ? "tunnelRef is missing"
          : tunnel === undefined
            ? `there is no ${refText(ref)}`
            : `${refText(ref)} has no tunnel yet`;
      const reason = tunnel === undefined ? "ErrTunnel" : "ErrTunnelNotReady";
      book.tell(ctx.events, binding, [{ reason, message }]);
      await writeStatus(binding, ctx, options.clock, { ready: false, reason, message });
      return;
    }
    const domain = tunnel.spec?.cloudflare?.domain;
    const { source, services, notices } = bindingSource(binding, {
      domain,
      service: await servicesNamed(
        ctx.cache,
        subjectsOf(binding).map(({ name }) => ({ namespace: key.namespace, name })),
      ),
    });
    const limit = (await limits(ctx.cache, world))(tunnelId);
    const hosts = leavesDns(binding)
      ? []
      : hostsOf(limit(source)).filter((host) => hostnameProblem(host) === undefined);
    const labels = {
      [`${PREFIX}/managed-by`]: "tunnel-binding",
      [`${PREFIX}/binding`]: key.name.slice(0, 63),
    };
    const records = dnsObjects({
      namespace: key.namespace,
      owner: key.name,
      labels,
      hosts,
      tunnel,
      proxied: true,
    });
    await keepDnsRecords(ctx, { kind: TUNNEL_BINDING, object: binding }, records);
    book.tell(ctx.events, binding, notices);
    await noteHostnames(binding, services, ctx);
    const document = await storedDocument(tunnelId, ctx.cache, options.operatorNamespace);
    const own = `TunnelBinding/${key.namespace}/${key.name}`;
    const lost = (document?.conflicts ?? []).filter(({ losers }) => losers.includes(own));
    const rejected = (document?.rejected ?? []).filter(({ source: from }) => from === own);
    const synced = document?.syncStatus === "Synced" && document.sources[own] !== undefined;
    const message = rejected.map(rejectionText).join("; ");
    const [left] = rejected;
    await writeStatus(binding, ctx, options.clock, {
      ready: synced && rejected.length === 0,
      reason: left !== undefined ? (left.cause ?? "RuleRejected") : synced ? "Synced" : "ConfigPending",
      message,
      lost,
      services,
    });
  };
}

interface BindingOutcome {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  readonly lost?: readonly Conflict[];
  readonly services?: readonly { hostname: string; target: string }[];
}

async function writeStatus(
  binding: Cached<TunnelBinding>,
  ctx: ReconcileContext,
  clock: Clock,
  outcome: BindingOutcome,
): Promise<void> {
  const { ready, reason, message, lost, services } = outcome;
  const observedGeneration = binding.metadata.generation ?? 0;
  const wanted: Wanted[] = [{ type: "Ready", on: ready, reason, message }];
  if (lost !== undefined) {
    const text = lost
      .map(({ hostname, path, winner }) => `${hostname}${path} is served by ${winner}`)
      .join("; ");
    const why = lost.length > 0 ? "AlreadyServed" : "NoConflict";
    wanted.push({ type: "RuleConflict", on: lost.length > 0, reason: why, message: text });
  }
  const conditions = withConditions(binding.status?.conditions, wanted, observedGeneration, clock.now());
  const served = services && {
    hostnames: services.map(({ hostname }) => hostname).join(","),
    services: services.map((one) => ({ ...one })),
  };
  await ctx.client.patchStatus(TUNNEL_BINDING, binding, {
    ...binding.status,
    ...served,
    observedGeneration,
    conditions,
  });
}

/** The hosts in the peer's annotation, by which it cleans up after itself (TUN-419). */
async function noteHostnames(
  { metadata }: Cached<TunnelBinding>,
  services: readonly BoundService[],
  ctx: ReconcileContext,
): Promise<void> {
  const hostnames = services.map(({ hostname }) => hostname).join(",");
  if ((metadata.annotations?.[PREVIOUS_HOSTNAMES] ?? "") === hostnames) return;
  const { name = "", namespace = "" } = metadata;
  const body = { metadata: { annotations: { [PREVIOUS_HOSTNAMES]: hostnames } } };
  await ctx.client.patch(TUNNEL_BINDING, { name, namespace }, { type: "merge", body });
}
