/** What plays recorded cases of the peer, and patches that admission refuses. */

export * from "../support/refused-patches.ts";
export { type DryRunCase, playDryRunCase, sendDryRunCase } from "./dry-run.ts";
export { type DaemonSetCase, readDaemonSetCases } from "./format.ts";
export { type Ground, type GroundManager, startGround } from "./ground.ts";
export { playDaemonSetCase } from "./play.ts";
export { type RevisionCase, revisionDifference } from "./revisions.ts";
