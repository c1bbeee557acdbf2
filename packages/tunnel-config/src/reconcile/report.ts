/** The condition Ready of the kinds that are simple. */
import {
  type Condition,
  findCondition,
  type Kind,
  type KubeObject,
  type ReconcileContext,
  type Result,
  setCondition,
} from "@quartet/core";
import type { Cached } from "../kinds.ts";
import type { Backoff } from "./backoff.ts";
import type { Problem } from "./problem.ts";

export interface Reportable extends KubeObject {
  status?: { conditions?: unknown; observedGeneration?: number };
}

export interface ReportOptions<T extends Reportable> {
  readonly kind: Kind<T>;
  readonly object: Cached<T>;
  readonly ctx: ReconcileContext;
  readonly now: number;
}

/** Says that all is done, with what else the status holds. */
export async function reportReady<T extends Reportable>(
  { kind, object, ctx, now }: ReportOptions<T>,
  reason: string,
  status: object,
  message = "",
): Promise<void> {
  const observedGeneration = object.metadata.generation ?? 0;
  const input = { type: "Ready", status: "True" as const, reason, message, observedGeneration };
  const { conditions } = setCondition(conditionsOf(object), input, now);
  await ctx.client.patchStatus<Reportable>(kind as Kind as Kind<Reportable>, object, {
    ...object.status,
    ...status,
    observedGeneration,
    conditions,
  });
}

/** Tells an obstacle; an event goes with each new one. Says when to look again. */
export async function reportProblem<T extends Reportable>(
  { kind, object, ctx, now }: ReportOptions<T>,
  problem: Problem,
  status: object,
  backoff: { readonly store: Backoff; readonly id: string },
): Promise<Result> {
  const observedGeneration = object.metadata.generation ?? 0;
  const { reason, message } = problem;
  const before = findCondition(conditionsOf(object), "Ready");
  const input = { type: "Ready", status: "False" as const, reason, message, observedGeneration };
  const { conditions } = setCondition(conditionsOf(object), input, now);
  await ctx.client.patchStatus<Reportable>(kind as Kind as Kind<Reportable>, object, {
    ...object.status,
    ...status,
    observedGeneration,
    conditions,
  });
  if (before?.reason !== reason || before.message !== message) {
    ctx.events.record(object, { type: "Warning", reason, note: message, distinct: message });
  }
  const pause = problem.retryAfterMs ?? (problem.transient ? backoff.store.next(backoff.id) : undefined);
  return pause === undefined ? {} : { requeueAfter: pause };
}

function conditionsOf(object: Cached<Reportable>): Condition[] | undefined {
  return object.status?.conditions as Condition[] | undefined;
}
