/** One run of a reconcile: context, time limit, and what its outcome means for the queue. */
import { randomUUID } from "node:crypto";
import { isConflict } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import { within } from "../client/within.ts";
import type { Clock } from "../clock.ts";
import type { Kind, ObjectKey } from "../object.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import type { PlannedRuns } from "../plan/planner.ts";
import type { WorkQueue } from "../queue/queue.ts";
import type { QueueItem } from "../queue/types.ts";
import type { TokenBucket } from "../token-bucket.ts";
import { isOwnNotFound, isPanic, retryAfterIn, terminalErrorIn } from "./errors.ts";
import type { ControllerObserver } from "./observer.ts";
import type { RecentOutcomes } from "./recent-outcomes.ts";
import { runContext } from "./rejections.ts";
import { timeLimit } from "./time-limit.ts";
import type { Reconcile, ReconcileContext, Result, SourceReader } from "./types.ts";

/** `requeueAfter` gets up to this much more, so that objects of one moment spread out (CORE-229). */
const REQUEUE_JITTER = 0.1;
const MIN_REQUEUE_MS = 100;
/**
 * A dry run whose plan stays the same is not asked for more often than this: its writes never come true, so a controller
 * that waits for them would run for ever. The wait doubles from the first to the last, milliseconds.
 */
const FIRST_PLAN_WAIT_MS = 1_000;
const MAX_PLAN_WAIT_MS = 300_000;
/** So many conflicts of a key in a row are an error and not the cache lagging behind (CORE-228). */
const CONFLICTS_ARE_ERROR = 5;

export interface RunOptions {
  controller: string;
  kind: Kind | undefined;
  reconcile: Reconcile;
  queue: WorkQueue;
  client: Client;
  /** Limits the requests of the controller. */
  limiter: TokenBucket | undefined;
  /** What the reconcile of a key may read. */
  cacheOf: (key: string) => SourceReader;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  features: Readonly<Record<string, boolean>>;
  observer: ControllerObserver;
  outcomes: RecentOutcomes;
  /** 0: no limit. */
  timeoutMs: number;
  /** Aborts all running reconciles at once. */
  signal: AbortSignal;
  random: () => number;
  /** Set when the controller runs dry. */
  plannedRuns?: PlannedRuns;
  /** Called for a panic when the process shall not outlive one. */
  onFatal?: (error: unknown) => void;
}

/** A run that has ended, on its way to queue, log and metrics. */
interface Ended {
  item: QueueItem;
  seconds: number;
  log: Logger;
}

/** Runs the key of an item and tells the queue what follows; never throws. */
export async function runOnce(options: RunOptions, item: QueueItem, key: ObjectKey): Promise<void> {
  const { clock } = options;
  const reconcileID = randomUUID();
  const log = reconcileLog(options, key, reconcileID);
  const limit = timeLimit({
    clock,
    log,
    ms: options.timeoutMs,
    onTimeout: () => options.observer.onTimeout?.(options.controller),
  });
  const signal = AbortSignal.any([options.signal, limit.signal]);
  const ctx: ReconcileContext = {
    signal,
    log,
    reconcileID,
    client: within(options.client, signal, options.limiter),
    cache: options.cacheOf(item.key),
    events: options.events,
    priority: item.priority,
    attempt: item.attempt,
    features: options.features,
    ...(options.plannedRuns && { dryRun: true }),
  };
  const started = clock.monotonic();
  options.plannedRuns?.begin(item.key);
  const end = await attempt(options, item, key, ctx);
  limit.clear();
  const repeats = options.plannedRuns?.end(item.key, "result" in end) ?? 0;
  const ended: Ended = { item, log, seconds: (clock.monotonic() - started) / 1000 };
  if ("result" in end) succeed(options, ended, slowedDown(end.result, repeats));
  else fail(options, ended, end.error);
}

async function attempt(
  options: RunOptions,
  item: QueueItem,
  key: ObjectKey,
  ctx: ReconcileContext,
): Promise<{ result: Result } | { error: unknown }> {
  const { controller, observer, onFatal } = options;
  const onPanic = (error: unknown): void => {
    observer.onPanic?.(controller);
    onFatal?.(error);
  };
  const context = { controller, key: item.key, kind: options.kind, log: ctx.log, onPanic };
  const run = async (): ReturnType<Reconcile> => options.reconcile(key, ctx);
  try {
    return {
      result: (await runContext.run(context, run)) ?? {},
    };
  } catch (error) {
    return isOwnNotFound(error, options.kind, key) ? { result: {} } : { error };
  }
}

/** A result whose `requeueAfter` takes into account that the same was planned so many times in a row. */
function slowedDown(result: Result, repeats: number): Result {
  if (repeats === 0 || (result.requeueAfter ?? 0) <= 0) return result;
  const wait = Math.min(FIRST_PLAN_WAIT_MS * 2 ** (repeats - 1), MAX_PLAN_WAIT_MS);
  return { ...result, requeueAfter: Math.max(result.requeueAfter ?? 0, wait) };
}

function succeed(options: RunOptions, { item, seconds, log }: Ended, result: Result): void {
  const { queue, observer, controller, outcomes } = options;
  queue.forget(item.key);
  outcomes.set(item.key, { result: "success", seconds, at: options.clock.now() });
  const after = result.requeueAfter ?? 0;
  if (after > 0) {
    const jitter = result.exact ? 0 : options.random() * REQUEUE_JITTER;
    const delay = Math.max(MIN_REQUEUE_MS, after * (1 + jitter));
    queue.addAfter(item.key, delay, { priority: result.priority ?? item.priority });
  }
  observer.onReconcile?.(controller, after > 0 ? "requeue_after" : "success", seconds);
  log.debug("Reconciled", { seconds, requeueAfterMs: after > 0 ? after : undefined });
}

function fail(options: RunOptions, { item, seconds, log }: Ended, error: unknown): void {
  const { queue, observer, controller, outcomes } = options;
  const wait = retryAfterIn(error);
  if (wait !== undefined) {
    outcomes.set(item.key, { result: "error", error, seconds, at: options.clock.now() });
    observer.onReconcile?.(controller, "requeue_after", seconds);
    queue.addAfter(item.key, Math.max(MIN_REQUEUE_MS, wait.afterMs), { priority: item.priority });
    log.info("Reconcile waits as it was asked to", { error, afterMs: wait.afterMs });
    return;
  }
  const conflicts = isConflict(error) ? (outcomes.get(item.key)?.conflicts ?? 0) + 1 : 0;
  outcomes.set(item.key, { result: "error", error, conflicts, seconds, at: options.clock.now() });
  observer.onReconcile?.(controller, "error", seconds);
  if (asksForRequeue(error)) log.warn("requeueAfter of a reconcile that failed is ignored");
  if (terminalErrorIn(error) !== undefined) {
    observer.onTerminalError?.(controller);
    queue.forget(item.key);
    log.error("Reconciler error", { error, retry: false });
    return;
  }
  queue.addRateLimited(item.key, { priority: item.priority });
  if (conflicts > 0 && conflicts < CONFLICTS_ARE_ERROR) {
    log.info("object was changed meanwhile, trying again", { error });
    return;
  }
  const panic = isPanic(error);
  log.error("Reconciler error", { error, ...(panic && { panic }) });
  if (!panic) return;
  observer.onPanic?.(controller);
  options.onFatal?.(error);
}

/** A thrown value that carries `requeueAfter`, as a result would (CORE-227). */
function asksForRequeue(error: unknown): boolean {
  return typeof error === "object" && error !== null && "requeueAfter" in error;
}

function reconcileLog(options: RunOptions, key: ObjectKey, reconcileID: string): Logger {
  const { kind, controller } = options;
  const { namespace, name } = key;
  const ofKind = kind && {
    controllerGroup: kind.group,
    controllerKind: kind.kind,
    [kind.kind]: { name, namespace },
  };
  return options.log.with({ controller, ...ofKind, namespace, name, reconcileID });
}
