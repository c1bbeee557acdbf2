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

/** Pause after a refusal that names none, in milliseconds. */
const RATE_LIMIT_MS = 60_000;

export interface Reportable extends KubeObject {
  status?: { conditions?: unknown; observedGeneration?: number };
}

export interface ReportOptions<T extends Reportable> {
  readonly kind: Kind<T>;
  readonly object: Cached<T>;
  readonly ctx: ReconcileContext;
  readonly now: number;
}

/** Writes Ready and what else the status holds. */
export async function reportStatus<T extends Reportable>(
  { kind, object, ctx, now }: ReportOptions<T>,
  { ready, reason, message }: { readonly ready: boolean; readonly reason: string; readonly message: string },
  status: object,
): Promise<void> {
  const observedGeneration = object.metadata.generation ?? 0;
  const value = ready ? ("True" as const) : ("False" as const);
  const input = { type: "Ready", status: value, reason, message, observedGeneration };
  const { conditions } = setCondition(conditionsOf(object), input, now);
  await ctx.client.patchStatus<Reportable>(kind as Kind as Kind<Reportable>, object, {
    ...object.status,
    ...status,
    observedGeneration,
    conditions,
  });
}

/** Says that all is done, with what else the status holds. */
export async function reportReady<T extends Reportable>(
  options: ReportOptions<T>,
  reason: string,
  status: object,
  message = "",
): Promise<void> {
  await reportStatus(options, { ready: true, reason, message }, status);
}

/** Tells an obstacle; an event goes with each new one. Says when to look again. */
export async function reportProblem<T extends Reportable>(
  options: ReportOptions<T>,
  problem: Problem,
  status: object,
  backoff: { readonly store: Backoff; readonly id: string },
): Promise<Result> {
  const { object, ctx } = options;
  const { reason, message } = problem;
  const before = findCondition(conditionsOf(object), "Ready");
  // To wait for a turn is no state of an object that has one (TUN-1004).
  if (reason === "RateLimited" && before !== undefined) return waiting(problem);
  await reportStatus(options, { ready: false, reason, message }, status);
  if (before?.reason !== reason || before.message !== message) {
    ctx.events.record(object, { type: "Warning", reason: problem.event, note: message, distinct: message });
  }
  const pause = problem.retryAfterMs ?? (problem.transient ? backoff.store.next(backoff.id) : undefined);
  return pause === undefined ? {} : { requeueAfter: pause };
}

function waiting({ retryAfterMs }: Problem): Result {
  return { requeueAfter: retryAfterMs ?? RATE_LIMIT_MS };
}

function conditionsOf(object: Cached<Reportable>): Condition[] | undefined {
  return object.status?.conditions as Condition[] | undefined;
}
