/** Children of an owner: what every controller needs to create, take over, update and remove them. */
export {
  type ChildPlan,
  type Children,
  type ChildrenOptions,
  type ChildSpec,
  childrenOf,
  type Ensured,
} from "./children.ts";
export {
  type Claim,
  childMetadata,
  claimOf,
  type Family,
  isControlledByFamily,
  mergedMetadata,
} from "./family.ts";
export { type ChildMemory, createChildMemory } from "./memory.ts";
export { isProblem, type Problem, type ProblemCause, problemOf } from "./problem.ts";
