/** What can be wrong with a strategic merge patch. */
export type StrategicMergeProblem =
  /** A map was expected and something else is there, or the other way round. */
  | "NotAnObject"
  /** An item of a list that is merged by a key does not carry that key. */
  | "MissingMergeKey"
  /** `$patch` holds something that is not a directive, or not one for this place. */
  | "UnknownDirective"
  /** `$retainKeys` is not a list of names, or does not name a key of its own map. */
  | "BadRetainKeys"
  /** `$setElementOrder/…` is malformed or disagrees with the list it orders. */
  | "BadElementOrder"
  /** `$deleteFromPrimitiveList/…` names no list. */
  | "BadPrimitiveList"
  /** A list mixes types, or holds lists. */
  | "MixedElements"
  /** The schema has no such field, so it says nothing about how to merge it. */
  | "UnknownField"
  /** A value is nested deeper, or a merged list longer, than can be worked on safely. */
  | "TooLarge";

/**
 * A patch that cannot be applied, or two objects whose difference cannot be told. `path` leads to the offending node in
 * the patch, as in `spec.containers[0].env[2]`; it is empty at the root. Values never appear in the message.
 */
export class StrategicMergeError extends Error {
  override readonly name = "StrategicMergeError";
  readonly path: string;
  readonly problem: StrategicMergeProblem;

  constructor(problem: StrategicMergeProblem, path: string, detail: string) {
    super(path === "" ? detail : `${path}: ${detail}`);
    this.problem = problem;
    this.path = path;
  }
}
