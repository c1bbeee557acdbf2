/** `@quartet/tunnel-config/testkit`: plays what was recorded on the peer. For tests and `npm run corpus`. */
export { readTunnelCases, type TunnelCase } from "./format.ts";
export { type Ground, openGround, startGround } from "./place.ts";
export { playTunnelCase } from "./play.ts";
