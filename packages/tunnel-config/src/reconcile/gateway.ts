/** Gateways: their status, and DNS records of the hosts that are served through them. Rules are the sync's. */
import { type Clock, isControlledBy, type Reconcile, type ReconcileContext } from "@quartet/core";
import { dnsTarget, LEGACY_GATEWAY_FINALIZER, PREFIX } from "../constants.ts";
import { dnsObjects } from "../desired/dns-objects.ts";
import type { ConfigDocument } from "../desired/document.ts";
import { isServed } from "../desired/gateway/attach.ts";
import { type GatewayTarget, gatewayTarget } from "../desired/gateway/classes.ts";
import { hostnameProblem } from "../desired/hostname.ts";
import { parseFlag } from "../desired/sources/annotations.ts";
import { hostsOf } from "../desired/sources/ingress.ts";
import { refText } from "../desired/targets.ts";
import { GATEWAY, GATEWAY_GROUP, type Gateway } from "../gateway-kinds.ts";
import { type AnyTunnel, type Cached, DNS_RECORD } from "../kinds.ts";
import { type Wanted, withConditions } from "./conditions.ts";
import { keepDnsRecords } from "./dns-children.ts";
import { dropFinalizer } from "./drop-finalizer.ts";
import { type Gateways, type PlacedAttachment, readGateways } from "./gateway-world.ts";
import { createHostLimits, type HostLimit } from "./host-limits.ts";
import { storedDocument } from "./tunnel-run.ts";
import { readWorld } from "./world.ts";

export interface GatewayOptions {
  readonly clock: Clock;
  readonly operatorNamespace: string;
}

type Route = Gateways["routes"][number];

/** A route that listeners of the Gateway take. */
interface Attached {
  readonly route: Route;
  readonly by: readonly PlacedAttachment[];
}

/** Reconcile of Gateways. */
export function createGatewayReconcile({ clock, operatorNamespace }: GatewayOptions): Reconcile {
  const limits = createHostLimits();
  return async (key, ctx) => {
    const gateway = await ctx.cache.get(GATEWAY, key);
    if (gateway === undefined) return;
    await dropFinalizer(GATEWAY, gateway, LEGACY_GATEWAY_FINALIZER, ctx);
    if (gateway.metadata.deletionTimestamp !== undefined) return;
    const world = await readWorld(ctx.cache, operatorNamespace);
    const gateways = await readGateways(ctx.cache, world);
    const target = gatewayTarget(gateway, gateways);
    if (target.state === "foreign") return release(gateway, ctx);
    const tunnel = target.state === "known" ? world.tunnel(target.ref) : undefined;
    const attached = attachedTo(gateway, gateways);
    const tunnelId = tunnel?.status?.tunnelId;
    if (tunnel !== undefined && tunnelId && target.state === "known") {
      const limit = (await limits(ctx.cache, world))(tunnelId);
      await keepDnsRecords(
        ctx,
        { kind: GATEWAY, object: gateway },
        recordsOf(gateway, target, tunnel, attached, gateways, limit),
      );
    }
    const document = await storedDocument(tunnelId, ctx.cache, operatorNamespace);
    await writeStatus(gateway, { target, tunnel, attached, document }, ctx, clock.now());
  };
}

/** A Gateway of another class keeps no records of ours. */
async function release(gateway: Cached<Gateway>, ctx: ReconcileContext): Promise<void> {
  const { namespace = "" } = gateway.metadata;
  const records = await ctx.cache.list(DNS_RECORD, { namespace });
  if (records.some((record) => isControlledBy(record, gateway)))
    await keepDnsRecords(ctx, { kind: GATEWAY, object: gateway }, []);
}

function attachedTo({ metadata }: Cached<Gateway>, gateways: Gateways): Attached[] {
  return gateways.routes.flatMap((route) => {
    const by = gateways
      .attachments(route)
      .filter(({ gateway, refusal }) => gateway.metadata.uid === metadata.uid && refusal === undefined);
    return by.length === 0 ? [] : [{ route, by }];
  });
}

/** One record for each host that a route serves through the Gateway (TUN-532). */
function recordsOf(
  { metadata }: Cached<Gateway>,
  { config }: Extract<GatewayTarget, { state: "known" }>,
  tunnel: Cached<AnyTunnel>,
  attached: readonly Attached[],
  gateways: Gateways,
  limit: HostLimit,
) {
  if (config.spec.dnsManagement === "Manual") return [];
  const flag = ({ metadata: of }: Route, name: string): boolean | undefined =>
    parseFlag(of.annotations?.[`${PREFIX}/${name}`] ?? "");
  const proxied = new Map<string, boolean>();
  for (const { route, by } of attached) {
    if (flag(route, "disable-dns") === true) continue;
    const own = flag(route, "dns-proxied") ?? config.spec.dnsProxied ?? true;
    for (const host of hostsOf(limit(gateways.contribution(route, by).source)))
      if (hostnameProblem(host) === undefined && !proxied.has(host)) proxied.set(host, own);
  }
  const { name = "", namespace = "" } = metadata;
  const labels = { [`${PREFIX}/managed-by`]: "gateway-controller", [`${PREFIX}/gateway`]: name.slice(0, 63) };
  const hosts = [...proxied.keys()].sort();
  return dnsObjects({
    namespace,
    owner: name,
    labels,
    hosts,
    tunnel,
    proxied: (host) => proxied.get(host) === true,
  });
}

interface Facts {
  readonly target: GatewayTarget;
  readonly tunnel: Cached<AnyTunnel> | undefined;
  readonly attached: readonly Attached[];
  readonly document: ConfigDocument | undefined;
}

async function writeStatus(
  gateway: Cached<Gateway>,
  facts: Facts,
  ctx: ReconcileContext,
  now: number,
): Promise<void> {
  const { metadata, status, spec } = gateway;
  const generation = metadata.generation ?? 0;
  const { accepted, programmed } = outcomeOf(facts);
  const listeners = spec.listeners.map((listener) => {
    const before = listenersOf(status?.listeners).find(({ name }) => name === listener.name);
    const served = isServed(listener);
    const wanted: Wanted[] = [
      {
        type: "Accepted",
        on: served,
        reason: served ? "Accepted" : "UnsupportedProtocol",
        message: served ? "" : "a tunnel serves HTTPRoutes by HTTP, HTTPS and TLS",
      },
      { type: "Programmed", on: served && programmed.on, reason: served ? programmed.reason : "Invalid" },
      { type: "ResolvedRefs", on: true, reason: "ResolvedRefs" },
    ];
    return {
      name: listener.name,
      supportedKinds: served ? [{ group: GATEWAY_GROUP, kind: "HTTPRoute" }] : [],
      attachedRoutes: facts.attached.filter(({ by }) =>
        by.some((one) => one.listeners.includes(listener.name)),
      ).length,
      conditions: withConditions(before?.conditions, wanted, generation, now),
    };
  });
  const tunnelId = facts.tunnel?.status?.tunnelId;
  await ctx.client.patchStatus(GATEWAY, gateway, {
    ...status,
    addresses: tunnelId ? [{ type: "Hostname", value: dnsTarget(tunnelId) }] : [],
    conditions: withConditions(status?.conditions, [accepted, programmed], generation, now),
    listeners,
  });
}

interface ListenerStatus {
  readonly name: string;
  readonly conditions?: unknown;
}

function listenersOf(value: unknown): readonly ListenerStatus[] {
  return Array.isArray(value) ? (value as ListenerStatus[]) : [];
}

/** Programmed is what the account holds (TUN-531). */
function outcomeOf({ target, tunnel, attached, document }: Facts): { accepted: Wanted; programmed: Wanted } {
  if (target.state !== "known") {
    const message = target.state === "unknown" ? target.message : "";
    return {
      accepted: { type: "Accepted", on: false, reason: "InvalidParameters", message },
      programmed: { type: "Programmed", on: false, reason: "Invalid", message },
    };
  }
  const accepted = { type: "Accepted", on: true, reason: "Accepted" };
  const held = attached.every(
    ({ route: { metadata } }) =>
      document?.sources[`HTTPRoute/${metadata.namespace}/${metadata.name}`]?.generation ===
      metadata.generation,
  );
  if (document?.syncStatus === "Synced" && held)
    return { accepted, programmed: { type: "Programmed", on: true, reason: "Programmed" } };
  const message = tunnel?.status?.tunnelId
    ? (document?.lastError ?? "the configuration of the tunnel is not transmitted yet")
    : `${refText(target.ref)} has no tunnel yet`;
  return { accepted, programmed: { type: "Programmed", on: false, reason: "Pending", message } };
}
