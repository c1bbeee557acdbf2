/** What every part of a pass over a DaemonSet needs. */
import type { Children, Clock, DeepReadonly, EventInput, Problem, ReconcileContext } from "@quartet/core";
import type { DaemonSet } from "../kinds.ts";
import type { BatchOutcome } from "./batches.ts";
import type { History } from "./history.ts";
import type { DaemonSetMemory } from "./memory.ts";
import type { PatchMetrics } from "./metrics.ts";

export interface Work {
  readonly daemonSet: DeepReadonly<DaemonSet>;
  readonly memory: DaemonSetMemory;
  readonly children: Children<DaemonSet>;
  readonly metrics: PatchMetrics;
  readonly clock: Clock;
  readonly ctx: ReconcileContext;
}

/** A pass that knows the version that pods are to have. */
export interface PodWork extends Work {
  readonly history: History;
}

/** What came of writes. */
export interface Done {
  /** Writes that changed something. */
  readonly writes: number;
  readonly problems: readonly Problem[];
  readonly errors: readonly unknown[];
}

export const NOTHING: Done = { writes: 0, problems: [], errors: [] };

export function together(...all: readonly Done[]): Done {
  return {
    writes: all.reduce((sum, { writes }) => sum + writes, 0),
    problems: all.flatMap(({ problems }) => problems),
    errors: all.flatMap(({ errors }) => errors),
  };
}

/** An event on the DaemonSet. */
export function tell({ daemonSet, ctx }: Work, event: EventInput): void {
  ctx.events.record(daemonSet as DaemonSet, event);
}

/** What came of a batch; the first refusal in it becomes an event, in the server's words. */
export function toldOf(
  { done, problems, standing, errors }: BatchOutcome,
  { reason, text }: { readonly reason: string; readonly text: string },
  work: Work,
): Done {
  // In a namespace that is being deleted nothing is worth telling (DSP-735).
  const told = problems.filter(({ cause }) => cause !== "terminating");
  for (const { message } of told.slice(0, 1))
    tell(work, { type: "Warning", reason, note: `${text}: ${message}` });
  return { writes: done, problems: [...told, ...standing], errors };
}
