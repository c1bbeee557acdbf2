/** `@quartet/testing`: API servers and helpers for tests, the demo and benchmarks. Never shipped. */
export * from "./api-server.ts";
export * from "./apiserver-double/index.ts";
export * from "./cloudflare/index.ts";
export * from "./control-plane/index.ts";
export * from "./fault-proxy/index.ts";
export { gatewayCrds } from "./gateway-api/index.ts";
export * from "./live-list.ts";
export * from "./mini-kubelet/index.ts";
export * from "./nacos-server/index.ts";
export * from "./postgres/index.ts";
export * from "./request.ts";
