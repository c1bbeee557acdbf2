/** The fault proxy: breaks the way between a client and an API server. */
export * from "./fault-proxy.ts";
export type { ActiveRule, Fault, FaultRule } from "./rules.ts";
