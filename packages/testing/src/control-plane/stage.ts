/** What stages of kwok are made of, and the annotations by which tests steer them. */

/** Annotations that tests put on pods (in a template too) and nodes. */
export const TEST_ANNOTATIONS = {
  /** Pod: Go duration, such as `1.5s`, between running and ready. */
  readyDelay: "quartet.io/test-ready-delay",
  /**
   * Pod: not ready as long as it is there. `"true"`: the containers run unready; another value, such as
   * `CrashLoopBackOff`, is the reason why they wait.
   */
  hold: "quartet.io/test-hold",
  /** Pod: fails with this value as reason. */
  fail: "quartet.io/test-fail",
  /** Pod of a Job: Go duration from ready to Succeeded. */
  runTime: "quartet.io/test-run-time",
  /** Pod: Go duration between the deletion's request and the end of the pod. */
  deleteDelay: "quartet.io/test-delete-delay",
  /** Node: `"true"` keeps it NotReady. */
  nodeNotReady: "quartet.io/test-not-ready",
} as const;

/**
 * Tag of an image whose containers fail at once, for pods that a test cannot annotate: `example/tool:test-fail`. Their
 * reason is `TestFailImage`.
 */
export const FAILING_IMAGE_TAG = "test-fail";

/** jq path of an annotation. */
export const annotation = (name: string): string => `.metadata.annotations["${name}"]`;

/** A condition on the object: a jq expression and what it has to give. */
export interface Expression {
  key: string;
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  values?: string[];
}

export const isTrue = (key: string): Expression => ({ key, operator: "In", values: ["true"] });
export const isNotTrue = (key: string): Expression => ({ key, operator: "NotIn", values: ["true"] });
export const isOneOf = (key: string, ...values: string[]): Expression => ({ key, operator: "In", values });
export const exists = (key: string): Expression => ({ key, operator: "Exists" });
export const isMissing = (key: string): Expression => ({ key, operator: "DoesNotExist" });
/** Not being deleted. */
export const ALIVE: Expression = isMissing(".metadata.deletionTimestamp");

/** One step in the life of a node or pod. */
export interface Stage {
  name: string;
  kind: "Node" | "Pod";
  when: Expression[];
  /** jq expression of a Go duration or of a time; nothing means at once. */
  delayFrom?: string;
  delay?: { durationMilliseconds: number; jitterDurationMilliseconds?: number };
  next: { statusTemplate: string } | { delete: true };
}
