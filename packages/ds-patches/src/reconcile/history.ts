/** What a pass knows of a DaemonSet's revisions. */
import type { DeepReadonly } from "@quartet/core";
import type { ControllerRevision } from "@quartet/core/kinds";
import type { PodTemplate } from "../api.ts";

export type Revision = DeepReadonly<ControllerRevision>;

export interface History {
  /** H_t. */
  readonly revision: string;
  /** Suffix of the current snapshot's name; empty without patches. */
  readonly patchRevision: string;
  /** Number of the revision that the whole state has. */
  readonly number: number;
  /** All that the DaemonSet had before this pass. */
  readonly revisions: readonly Revision[];
  /** Base revisions with the current template, beside the one that counts (DSP-609). */
  readonly duplicates: readonly Revision[];
  /** The effective template of a pod, by its hash label and the annotation that names its patches, while it is known. */
  templateOf(revision: string, patchesApplied: string): PodTemplate | undefined;
}
