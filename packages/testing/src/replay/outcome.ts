/** What came of a recorded case. */
import type { Difference } from "./diff.ts";

export interface Outcome {
  /** `skipped`: the product decides otherwise in this case; it was played all the same and came to rest. */
  readonly verdict: "passed" | "failed" | "skipped";
  /** All differences from the peer beyond the decisions that hold for every object. */
  readonly differences: readonly Difference[];
  /** Those of them that no decision of the case explains; they make it fail. */
  readonly faults: readonly Difference[];
  /** Why it could not be played to its end. */
  readonly error?: string;
}
