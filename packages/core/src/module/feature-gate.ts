/** Feature gates: switches of features that are not for everybody yet, or no longer. */

/** Stage of a feature: Alpha is off, Beta on, GA on for good, Deprecated off unless declared otherwise. */
export type GateStage = "Alpha" | "Beta" | "GA" | "Deprecated";

/** Declaration of a feature gate. It stays declared after GA, so that old command lines keep working (CORE-394). */
export interface FeatureGate {
  readonly name: string;
  readonly stage: GateStage;
  /** Version in which the feature reached its stage. */
  readonly since: string;
  /** Module that it belongs to. */
  readonly owner: string;
  readonly help: string;
  /** Where the stage's own default does not fit. */
  readonly default?: boolean;
}
