/** `@quartet/nacos-config/testkit`: plays what was recorded on the peer operator. For tests and `npm run corpus`. */
export { playAdoption } from "./adoption.ts";
export { RUN } from "./arena.ts";
export { type RecordedAdoption, type RecordedCase, readAdoptions, readCases } from "./format.ts";
export { type PlayOptions, playCase } from "./play.ts";
