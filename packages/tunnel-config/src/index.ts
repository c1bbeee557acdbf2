/** `@quartet/tunnel-config`: Cloudflare Tunnels, their configuration, and what stands beside them in the account. */
export * from "./cloudflare/index.ts";
