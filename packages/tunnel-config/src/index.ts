/** `@quartet/tunnel-config`: Cloudflare Tunnels, their configuration, and their DNS records. */
export { createTunnelModule, type TunnelModuleOptions, tunnelModule } from "./module.ts";
export { type Serving, servingOf } from "./serving.ts";
