/** The parts of nodes and pods that decisions are made on. */
import type { Labels } from "../api.ts";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface NodeFacts {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
}

/** A pod of the DaemonSet that is not being deleted. */
export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  /** Node that it runs on, or is pinned to. */
  readonly node: string;
  readonly scheduled: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly created: number;
  readonly phase: string;
  /** Since when the condition Ready is True; milliseconds since the Unix epoch. */
  readonly readySince: number | undefined;
  /** It has the template and the patches that its node gets now (DSP-603). */
  readonly current: boolean;
  /** Marked for deletion, while a hook holds it (DSP-738). */
  readonly preparingDelete: boolean;
  /** A hook has to let go of it before it may be deleted (DSP-738). Default false. */
  readonly hooked?: boolean;
  /** It is being updated in place, and does not serve meanwhile (DSP-810). Default false. */
  readonly updating?: boolean;
  /** H_t of its template, and the annotation that names its patches; both empty when it has none. */
  readonly revision?: string;
  readonly patchesApplied?: string;
  /** It has the readiness gate without which nothing is updated in place (DSP-818). Default false. */
  readonly inPlaceGate?: boolean;
}
