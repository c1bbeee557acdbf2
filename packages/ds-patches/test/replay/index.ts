/** What plays recorded cases of the peer. */
export { type RevisionCase, revisionDifference } from "./revisions.ts";
