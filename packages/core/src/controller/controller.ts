/** A controller: sources that fill a queue, and workers that empty it. */
import type { Cache } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { keyToString, type ObjectKey, parseKey } from "../object.ts";
import { errorFields } from "../observe/error-fields.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import type { PlannedRuns } from "../plan/planner.ts";
import { createQueue, type WorkQueue } from "../queue/queue.ts";
import { DEFAULT_PRIORITY } from "../queue/types.ts";
import { createTokenBucket } from "../token-bucket.ts";
import { createDebouncer } from "./debounce.ts";
import type { ControllerObserver } from "./observer.ts";
import { type BuiltSource, type ControllerPlan, sourceOf } from "./plan.ts";
import { runRawSource } from "./raw-sources.ts";
import { type RecentOutcomes, recentOutcomes } from "./recent-outcomes.ts";
import { createReferences } from "./references.ts";
import { type RunOptions, runOnce } from "./run-once.ts";
import { createSourceSet, type SourceSet, type SourceSetOptions } from "./source-set.ts";
import type { Controller, ControllerOptions, ControllerState, Debounce, Reconcile } from "./types.ts";
import { createWorkers, type Workers } from "./workers.ts";

/** Time that reconciles get to end once their signal has aborted. */
const ABORT_GRACE_MS = 1000;

/** By what a controller acts and speaks. */
export interface Outlets {
  readonly client: Client;
  readonly events: EventRecorder;
}

/** What a controller needs of its manager. */
export interface ControllerDeps {
  readonly cache: Cache;
  /** Client and events under the controller's name, fenced where leadership is required. */
  readonly outlets: (needLeaderElection: boolean) => Outlets;
  readonly clock: Clock;
  readonly log: Logger;
  readonly features: Readonly<Record<string, boolean>>;
  /** All options of a controller, given those that it chose itself. */
  readonly optionsOf: (declared: ControllerOptions) => Required<ControllerOptions>;
  /** Longest wait for the caches in milliseconds; 0 waits for ever. */
  readonly cacheSyncTimeoutMs: number;
  readonly observer?: ControllerObserver;
  readonly random?: () => number;
  /** Set when the controller runs dry: its client plans the writes, and this is told of its runs. */
  readonly plannedRuns?: PlannedRuns;
  /** Told of the controller once it is complete. */
  readonly onBuilt?: (controller: Controller) => void;
  /** Set when the process shall end with the first panic (`--recover-panic=false`). */
  readonly onFatal?: (error: unknown) => void;
}

/** Parts of a controller and how it stands. */
interface Parts {
  readonly plan: ControllerPlan;
  readonly deps: ControllerDeps;
  readonly observer: ControllerObserver;
  readonly log: Logger;
  readonly queue: WorkQueue;
  readonly outcomes: RecentOutcomes;
  readonly added: Set<BuiltSource>;
  /** Aborts running reconciles. */
  readonly abort: AbortController;
  /** Ends the raw sources. */
  readonly stopping: AbortController;
  options: Required<ControllerOptions>;
  state: ControllerState;
}

/** Builds the controller of a plan; nothing runs before `warmUp` or `run`. */
export function createController(
  plan: ControllerPlan,
  reconcile: Reconcile,
  deps: ControllerDeps,
): Controller {
  const parts = createParts(plan, deps);
  const { queue, observer, added } = parts;
  const enqueue: Controller["enqueue"] = (key, { priority, afterMs } = {}) => {
    const add = priority === undefined ? {} : { priority };
    if (afterMs === undefined) queue.add(keyToString(key), add);
    else queue.addAfter(keyToString(key), afterMs, add);
  };
  const startRawSources = (): void => {
    const { clock } = deps;
    for (const source of plan.rawSources)
      void runRawSource(source, { enqueue, signal: parts.stopping.signal, clock, log: parts.log });
  };
  const outlets = deps.outlets(parts.options.needLeaderElection);
  const debouncer = createDebouncer(deps.clock);
  const add = (key: string, priority: number, debounce: Debounce | undefined): void => {
    if (debounce === undefined) queue.add(key, { priority });
    else queue.addAfter(key, debouncer.note(key, debounce), { priority });
  };
  const sources = sourcesOf(parts, {
    enqueue: (key, priority, debounce) => add(keyToString(key), priority, debounce),
    enqueueByHand: enqueue,
    onReady: (ready) => (ready ? workers.resume() : workers.pause()),
    onDelivery: startRawSources,
  });
  const references = createReferences(plan.references, {
    cache: deps.cache,
    client: outlets.client,
    clock: deps.clock,
    log: parts.log,
    onNews: (key, debounce) => add(key, DEFAULT_PRIORITY, debounce),
    signal: parts.stopping.signal,
  });
  const run = runOptionsOf(parts, reconcile, outlets, (key) => references.readerFor(key, sources.reader));
  const workers = createWorkers({
    count: parts.options.maxConcurrentReconciles,
    queue,
    clock: deps.clock,
    async run(item) {
      const key = parseKey(item.key);
      const { priority } = item;
      const news = debouncer.left(item.key);
      if (news > 0) return queue.addAfter(item.key, news, { priority });
      const unknown = references.follow(item.key, sources.primary(key), sources.reader);
      if (unknown === undefined) return runOnce(run, item, key);
      void unknown.then(() => queue.add(item.key, { priority }));
    },
    onActive: (active) => observer.onActive?.(plan.name, active),
  });
  observer.onBuild?.(plan.name, parts.options.maxConcurrentReconciles, queue);

  return {
    name: plan.name,
    declared: plan.options,
    get options() {
      return parts.options;
    },
    get state() {
      return parts.state;
    },
    get sources() {
      return [...plan.sources, ...added];
    },
    enqueue,
    get problem() {
      return sources.problem();
    },
    warmUp: () => sources.open(),
    run: (signal) => runUntil(parts, workers, sources, signal),
    async stop(drainMs) {
      const stopped = await stop(parts, workers, sources, drainMs);
      references.stop();
      return stopped;
    },
    setMaxConcurrentReconciles(count) {
      parts.options = { ...parts.options, maxConcurrentReconciles: count };
      workers.setCount(count);
      observer.onMaxConcurrentReconciles?.(plan.name, count);
    },
    watch(kind, map, options = {}) {
      const source = sourceOf("watches", kind, map, options);
      added.add(source);
      const end = sources.add(source);
      return () => {
        added.delete(source);
        end();
      };
    },
    explain: (key) => explain(parts, sources.problem(), references.waitsFor(keyToString(key)), key),
  };
}

function createParts(plan: ControllerPlan, deps: ControllerDeps): Parts {
  const { name } = plan;
  const observer = deps.observer ?? {};
  const log = deps.log.named(name);
  const queueObserver = observer.queue?.(name);
  const rateLimiter = plan.queue.rateLimiter?.(deps.clock);
  const queue = createQueue({
    name,
    clock: deps.clock,
    log,
    ...(rateLimiter && { rateLimiter }),
    ...(queueObserver && { observer: queueObserver }),
  });
  return {
    plan,
    deps,
    observer,
    log,
    queue,
    outcomes: recentOutcomes(),
    added: new Set(),
    abort: new AbortController(),
    stopping: new AbortController(),
    options: deps.optionsOf(plan.options),
    state: "Starting",
  };
}

function runOptionsOf(
  parts: Parts,
  reconcile: Reconcile,
  outlets: Outlets,
  cacheOf: RunOptions["cacheOf"],
): RunOptions {
  const { plan, deps, observer, log, queue, outcomes, options } = parts;
  const { clientRate } = plan;
  return {
    controller: plan.name,
    kind: plan.primary,
    reconcile,
    queue,
    ...outlets,
    limiter: clientRate && createTokenBucket(clientRate.perSecond, clientRate.burst, deps.clock),
    cacheOf,
    clock: deps.clock,
    log,
    features: deps.features,
    observer,
    outcomes,
    timeoutMs: options.reconcileTimeoutMs,
    signal: parts.abort.signal,
    random: deps.random ?? Math.random,
    ...(deps.plannedRuns && { plannedRuns: deps.plannedRuns }),
    ...(deps.onFatal && { onFatal: deps.onFatal }),
  };
}

function sourcesOf(
  parts: Parts,
  hooks: Pick<SourceSetOptions, "enqueue" | "enqueueByHand" | "onReady" | "onDelivery">,
): SourceSet {
  const { plan, deps, observer, log } = parts;
  return createSourceSet(plan, {
    ...hooks,
    cache: deps.cache,
    clock: deps.clock,
    log,
    cacheSyncTimeoutMs: deps.cacheSyncTimeoutMs,
    onState: (state) => setState(parts, state),
    onLost: () => observer.onEventLost?.(plan.name),
  });
}

function setState(parts: Parts, next: ControllerState): void {
  const { state, plan, log, observer } = parts;
  if (state === next || state === "Stopped") return;
  log.info("controller state", { controller: plan.name, from: state, to: next });
  parts.state = next;
  observer.onState?.(plan.name, next);
}

async function runUntil(
  parts: Parts,
  workers: Workers,
  sources: SourceSet,
  signal: AbortSignal,
): Promise<void> {
  const { queue, abort, stopping } = parts;
  const onAbort = (): void => {
    abort.abort(signal.reason);
    stopping.abort(signal.reason);
    queue.shutDown();
    workers.close();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  if (!signal.aborted) {
    workers.start();
    sources.deliver();
  }
  await workers.ended;
}

async function stop(
  parts: Parts,
  workers: Workers,
  sources: SourceSet,
  drainMs: number,
): Promise<{ stuck: readonly string[] }> {
  parts.stopping.abort(new Error("the controller is stopping"));
  parts.queue.shutDown();
  workers.close();
  if (!(await workers.drain(drainMs))) {
    parts.abort.abort(new Error("the manager is shutting down"));
    await workers.drain(ABORT_GRACE_MS);
  }
  sources.stop();
  setState(parts, "Stopped");
  const stuck = workers.running();
  parts.abort.abort(new Error("the controller has stopped"));
  return { stuck };
}

/** Durations are shown to the microsecond. */
const SECONDS_DIGITS = 6;

/** When a key is worked on next, for people. */
function nextPass(
  { state, dueInMs }: ReturnType<WorkQueue["inspect"]>,
  waitsFor: readonly string[],
  clock: Clock,
): string {
  if (waitsFor.length > 0) return "when what it waits for has been read, in 10 s at the latest";
  if (dueInMs !== undefined) return new Date(clock.now() + dueInMs).toISOString();
  return state === "absent" ? "when something changes" : "now";
}

function explain(
  { plan, deps, state, queue, outcomes }: Parts,
  problem: string | undefined,
  waitsFor: readonly string[],
  key: ObjectKey,
): ReturnType<Controller["explain"]> {
  const text = keyToString(key);
  const outcome = outcomes.get(text);
  const entry = queue.inspect(text);
  return {
    controller: plan.name,
    state,
    ...(problem !== undefined && { problem }),
    queue: { ...entry, ...(entry.dueInMs !== undefined && { dueInMs: Math.round(entry.dueInMs) }) },
    ...(waitsFor.length > 0 && { waitsFor }),
    nextPass: nextPass(entry, waitsFor, deps.clock),
    queueLength: queue.length,
    lastOutcome: outcome && {
      result: outcome.result,
      at: new Date(outcome.at).toISOString(),
      seconds: Number(outcome.seconds.toFixed(SECONDS_DIGITS)),
      ...(outcome.result === "error" && { error: errorFields(outcome.error).error }),
    },
  };
}
