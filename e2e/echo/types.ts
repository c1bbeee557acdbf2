/** The Echo, and what its controller can be told. */
import type { Condition, KubeObject, ObjectKey } from "@quartet/core";

export interface Echo extends KubeObject {
  spec: { text: string; finalize?: boolean; color?: string; [unknown: string]: unknown };
  status?: { observedGeneration?: number; conditions?: Condition[] };
}

export interface EchoOptions {
  /** Where a cleanup is asked for, as `POST <url>/<namespace>/<name>`; an answer other than 2xx fails it. */
  readonly cleanupUrl?: string;
  /** Group of the kind, so that a test can remove a CRD of its own. Default `test.quartet.io`. */
  readonly group?: string;
  /** Name of the controller. Default `echo`. */
  readonly name?: string;
  /** Runs at the start of each reconcile, which ends there with `"done"`. */
  readonly onReconcile?: (key: ObjectKey) => Promise<"done" | undefined> | Promise<void> | void;
  /** Runs in each webhook call; what it throws is an unexpected error of the handler. */
  readonly onAdmission?: (dryRun: boolean) => void;
}
