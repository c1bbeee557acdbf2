/** What a DaemonSet makes of a node. */
import type { Eligibility } from "../desired/eligibility.ts";
import type { NodeFacts } from "../desired/objects.ts";
import type { PatchMatch } from "../desired/patch-set.ts";

export interface NodeView {
  readonly facts: NodeFacts;
  readonly match: PatchMatch;
  readonly eligibility: Eligibility;
}
