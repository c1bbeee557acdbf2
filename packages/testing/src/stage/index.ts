/**
 * `@quartet/testing/stage`: what scenarios of controllers share. An API server of the test run's target with a
 * namespace, managers that have the rights of their modules and no others, and what they sent.
 */
export { type CaseTests, testCases } from "../replay/case-tests.ts";
export { crdsOf } from "./crds.ts";
export { eventually } from "./eventually.ts";
export * from "./manager.ts";
export * from "./objects.ts";
export {
  MAX_WRITES,
  type RefusalSweep,
  refuse,
  type SweptRefusal,
  testRefusals,
} from "./refusals.ts";
export { grantRights, narrowed } from "./rights.ts";
export * from "./stage.ts";
export { openTarget } from "./target.ts";
export type { Refusal, RefusedBy } from "./withhold.ts";
