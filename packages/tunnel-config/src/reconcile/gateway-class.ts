/** GatewayClasses: whether their parameters can be followed (TUN-520). */
import type { Clock, Reconcile } from "@quartet/core";
import { gatewayClassTarget } from "../desired/gateway/classes.ts";
import { GATEWAY_CLASS } from "../gateway-kinds.ts";
import { GATEWAY_CLASS_CONFIG } from "../kinds.ts";
import { withConditions } from "./conditions.ts";

/** Reconcile of GatewayClasses. */
export function createGatewayClassReconcile({ clock }: { readonly clock: Clock }): Reconcile {
  return async (key, ctx) => {
    const object = await ctx.cache.get(GATEWAY_CLASS, key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const configs = await ctx.cache.list(GATEWAY_CLASS_CONFIG);
    const target = gatewayClassTarget(object, {
      gatewayClass: () => object,
      gatewayConfig: (namespace, name) =>
        configs.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    });
    if (target.state === "foreign") return;
    const accepted =
      target.state === "known"
        ? { type: "Accepted", on: true, reason: "Accepted" }
        : { type: "Accepted", on: false, reason: target.reason, message: target.message };
    const { metadata, status } = object;
    const conditions = withConditions(status?.conditions, [accepted], metadata.generation ?? 0, clock.now());
    await ctx.client.patchStatus(GATEWAY_CLASS, object, { ...status, conditions });
  };
}
