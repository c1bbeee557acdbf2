/** The status of a class config: which tunnel serves it, and how many objects (TUN-478). */
import type { Clock, Kind, Reconcile, ReconcileContext } from "@quartet/core";
import type { TunnelIngressClassConfig } from "../api.gen.ts";
import { ingressTarget, refOfConfig, refText, type TunnelRef } from "../desired/targets.ts";
import { type AnyTunnel, type Cached, INGRESS, INGRESS_CLASS_CONFIG } from "../kinds.ts";
import { type Reportable, reportStatus } from "./report.ts";
import { readWorld, type World } from "./world.ts";

export interface ClassConfigOptions<T extends Reportable> {
  readonly kind: Kind<T>;
  readonly refOf: (config: Cached<T>) => TunnelRef;
  readonly clock: Clock;
  readonly operatorNamespace: string;
  /** Members of the status that count what the class serves. */
  count(config: Cached<T>, world: World, ctx: ReconcileContext): Promise<Readonly<Record<string, number>>>;
}

/** Reconcile of class configs of a kind. */
export function createClassConfigReconcile<T extends Reportable>(options: ClassConfigOptions<T>): Reconcile {
  return async (key, ctx) => {
    const { kind, clock, operatorNamespace } = options;
    const config = await ctx.cache.get(kind, key);
    if (config === undefined || config.metadata.deletionTimestamp !== undefined) return;
    const world = await readWorld(ctx.cache, operatorNamespace);
    const ref = options.refOf(config);
    const tunnel = world.tunnel(ref);
    const counts = await options.count(config, world, ctx);
    const { tunnelId = "", tunnelName = "" } = tunnel?.status ?? {};
    const outcome = outcomeOf(tunnel, refText(ref));
    const report = { kind, object: config, ctx, now: clock.now() };
    await reportStatus(report, outcome.condition, { tunnelId, tunnelName, state: outcome.state, ...counts });
  };
}

function outcomeOf(tunnel: Cached<AnyTunnel> | undefined, name: string) {
  if (tunnel === undefined) {
    const message = `there is no ${name}; create it or change spec.tunnelRef`;
    return { state: "error", condition: { ready: false, reason: "TunnelNotFound", message } };
  }
  if (!tunnel.status?.tunnelId) {
    const message = `${name} has no tunnel yet`;
    return { state: "pending", condition: { ready: false, reason: "TunnelNotReady", message } };
  }
  return { state: "active", condition: { ready: true, reason: "Reconciled", message: "" } };
}

/** Ingresses whose class has the config as its parameters. */
export async function countIngresses(
  config: Cached<TunnelIngressClassConfig>,
  world: World,
  ctx: ReconcileContext,
): Promise<{ ingressCount: number }> {
  const { name, namespace } = config.metadata;
  const served = (await ctx.cache.list(INGRESS)).filter((ingress) => {
    const target = ingressTarget(ingress, world);
    const own = target.state === "known" ? target.config?.metadata : undefined;
    return own?.name === name && own?.namespace === namespace && !ingress.metadata.deletionTimestamp;
  });
  return { ingressCount: served.length };
}

/** Options for the configs of Ingress classes. */
export function ingressClassConfigs(
  options: Omit<ClassConfigOptions<TunnelIngressClassConfig>, "kind" | "refOf" | "count">,
): ClassConfigOptions<TunnelIngressClassConfig> {
  return { ...options, kind: INGRESS_CLASS_CONFIG, refOf: refOfConfig, count: countIngresses };
}
