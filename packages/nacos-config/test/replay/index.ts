/** `@quartet/nacos-config/testkit`: plays what was recorded on the peer operator. For tests and `npm run corpus`. */
export { playAdoption } from "./adoption.ts";
export { type Arena, openArena, startArena } from "./arena.ts";
export { type Difference, describe } from "./diff.ts";
export { type RecordedAdoption, type RecordedCase, readAdoptions, readCases } from "./format.ts";
export { CorpusFormatError } from "./lines.ts";
export { type Outcome, type PlayOptions, playCase } from "./play.ts";
export { startAll } from "./start-all.ts";
