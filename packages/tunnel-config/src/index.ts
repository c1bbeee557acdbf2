/** `@quartet/tunnel-config`: Cloudflare Tunnels, their configuration, and their DNS records. */
export { createTunnelModule, type TunnelModuleOptions, tunnelModule } from "./module.ts";
export { operatorNamespaceOf } from "./operator-namespace.ts";
export { isInStep, type PlanOptions, planTunnels, type TunnelPlan } from "./plan/plan.ts";
export { type Serving, servingOf } from "./serving.ts";
