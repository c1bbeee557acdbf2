/**
 * `@quartet/testing/replay`: plays what was recorded on a peer operator. What is compared, and which differences are
 * decided, belongs to the controller's own package. `testCases` of `@quartet/testing/stage` makes tests of the cases.
 */
export { type Arena, type ArenaOptions, openArena, type Scene, startArena } from "./arena.ts";
export { type Catalogue, openCatalogue } from "./catalogue.ts";
export { type Difference, describe, differences } from "./diff.ts";
export { CorpusFormatError, type Fields, readLines } from "./lines.ts";
export type { Outcome } from "./outcome.ts";
export * from "./recorded.ts";
export { type RestOptions, untilRest } from "./rest.ts";
export { startAll } from "./start-all.ts";
export { take } from "./steps.ts";
