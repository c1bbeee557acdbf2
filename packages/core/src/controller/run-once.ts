/** One run of a reconcile: context, time limit, and what its outcome means for the queue. */
import { randomUUID } from "node:crypto";
import type { Cache } from "../cache/types.ts";
import { isConflict } from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { Kind, ObjectKey } from "../object.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import type { WorkQueue } from "../queue/queue.ts";
import type { QueueItem } from "../queue/types.ts";
import { isOwnNotFound, isPanic, isTerminal } from "./errors.ts";
import type { ControllerObserver } from "./observer.ts";
import type { RecentOutcomes } from "./recent-outcomes.ts";
import { runContext } from "./rejections.ts";
import type { Reconcile, ReconcileContext, Result } from "./types.ts";

/** `requeueAfter` gets up to this much more, so that objects of one moment spread out (CORE-229). */
const REQUEUE_JITTER = 0.1;
const MIN_REQUEUE_MS = 100;
/** So many conflicts of a key in a row are an error and not the cache lagging behind (CORE-228). */
const CONFLICTS_ARE_ERROR = 5;
/** A reconcile that ignores its signal is named again and again at this interval. */
const STUCK_WARNING_MS = 60_000;

export interface RunOptions {
  controller: string;
  kind: Kind | undefined;
  reconcile: Reconcile;
  queue: WorkQueue;
  client: Client;
  cache: Cache;
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
  /** Called for a panic when the process shall not outlive one. */
  onFatal?: (error: unknown) => void;
}

/** Runs the key of an item and tells the queue what follows; never throws. */
export async function runOnce(options: RunOptions, item: QueueItem, key: ObjectKey): Promise<void> {
  const { clock, controller, observer, outcomes } = options;
  const reconcileID = randomUUID();
  const log = reconcileLog(options, key, reconcileID);
  const limit = timeLimit(options, log);
  const ctx: ReconcileContext = {
    signal: AbortSignal.any([options.signal, limit.signal]),
    log,
    reconcileID,
    client: options.client,
    cache: options.cache,
    events: options.events,
    priority: item.priority,
    attempt: item.attempt,
    features: options.features,
  };
  const started = clock.monotonic();
  const onPanic = (): void => observer.onPanic?.(controller);
  try {
    const run = (): ReturnType<Reconcile> => options.reconcile(key, ctx);
    const result = await runContext.run({ controller, key: item.key, log, onPanic }, run);
    succeed(options, item, result ?? {}, started, log);
  } catch (error) {
    if (isOwnNotFound(error, options.kind, key)) succeed(options, item, {}, started, log);
    else fail(options, item, error, started, log);
  } finally {
    limit.clear();
    outcomes.trim();
  }
}

function succeed(options: RunOptions, item: QueueItem, result: Result, started: number, log: Logger): void {
  const { queue, observer, controller, outcomes } = options;
  const seconds = (options.clock.monotonic() - started) / 1000;
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

function fail(options: RunOptions, item: QueueItem, error: unknown, started: number, log: Logger): void {
  const { queue, observer, controller, outcomes } = options;
  const seconds = (options.clock.monotonic() - started) / 1000;
  const before = outcomes.get(item.key);
  const conflicts = isConflict(error) ? (before?.conflicts ?? 0) + 1 : 0;
  outcomes.set(item.key, { result: "error", error, conflicts, seconds, at: options.clock.now() });
  observer.onReconcile?.(controller, "error", seconds);
  if (isTerminal(error)) {
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
  if (isPanic(error)) observer.onPanic?.(controller);
  log.error("Reconciler error", { error, panic: isPanic(error) || undefined });
  if (isPanic(error)) options.onFatal?.(error);
}

function reconcileLog(options: RunOptions, key: ObjectKey, reconcileID: string): Logger {
  const { kind, controller } = options;
  return options.log.with({
    controller,
    ...(kind === undefined
      ? {}
      : {
          controllerGroup: kind.group,
          controllerKind: kind.kind,
          [kind.kind]: { name: key.name, namespace: key.namespace },
        }),
    namespace: key.namespace,
    name: key.name,
    reconcileID,
  });
}

/** The run's own time limit: aborts its signal, and keeps naming a run that does not end all the same (CORE-232). */
function timeLimit(options: RunOptions, log: Logger): { signal: AbortSignal; clear: () => void } {
  const abort = new AbortController();
  const { timeoutMs, clock } = options;
  if (timeoutMs <= 0) return { signal: abort.signal, clear: () => {} };
  let cancel = clock.setTimer(timeoutMs, () => {
    options.observer.onTimeout?.(options.controller);
    abort.abort(new Error("reconciliation timeout"));
    const warn = (): void => {
      log.warn("reconcile does not end although its time is over");
      cancel = clock.setTimer(STUCK_WARNING_MS, warn);
    };
    cancel = clock.setTimer(timeoutMs, warn);
  });
  return { signal: abort.signal, clear: () => cancel() };
}
