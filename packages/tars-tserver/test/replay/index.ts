/** `@quartet/tars-tserver/testkit`: plays what was recorded on the peer. For tests and `npm run corpus`. */
export { readTarsCases, type TarsCase } from "./format.ts";
export { type Ground, type GroundManager, openGround, type Place, startGround } from "./place.ts";
export { playTarsCase } from "./play.ts";
