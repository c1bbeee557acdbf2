/** A controller: sources that fill a queue, and workers that empty it. */
import type { Cache } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { keyToString, type ObjectKey, parseKey } from "../object.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import { createQueue } from "../queue/queue.ts";
import type { ControllerPlan } from "./builder.ts";
import type { ControllerObserver } from "./observer.ts";
import { recentOutcomes } from "./recent-outcomes.ts";
import { type RunOptions, runOnce } from "./run-once.ts";
import { createSourceSet } from "./source-set.ts";
import type { Controller, ControllerOptions, ControllerState, Reconcile } from "./types.ts";
import { createWorkers } from "./workers.ts";

/** What a controller needs of its manager. */
export interface ControllerDeps {
  readonly cache: Cache;
  /** Client under the controller's name, fenced where leadership is required. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly features: Readonly<Record<string, boolean>>;
  /** Values for options that the controller leaves open. */
  readonly defaults: Required<ControllerOptions>;
  /** Longest wait for the caches in milliseconds; 0 waits for ever. */
  readonly cacheSyncTimeoutMs: number;
  readonly observer?: ControllerObserver;
  readonly random?: () => number;
  /** Set when the process shall end with the first panic (`--recover-panic=false`). */
  readonly onFatal?: (error: unknown) => void;
}

/** Builds the controller of a plan; nothing runs before `warmUp` or `run`. */
export function createController(
  plan: ControllerPlan,
  reconcile: Reconcile,
  deps: ControllerDeps,
): Controller {
  const { name } = plan;
  const observer = deps.observer ?? {};
  const options = { ...deps.defaults, ...plan.options };
  const log = deps.log.named(name);
  const queueObserver = observer.queue?.(name);
  const queue = createQueue({
    name,
    clock: deps.clock,
    log,
    ...(queueObserver && { observer: queueObserver }),
  });
  const abort = new AbortController();
  const outcomes = recentOutcomes();
  let state: ControllerState = "Starting";
  observer.onBuild?.(name, options.maxConcurrentReconciles, queue);

  const setState = (next: ControllerState): void => {
    if (state === next || state === "Stopped") return;
    log.info("controller state", { controller: name, from: state, to: next });
    state = next;
    observer.onState?.(name, next);
  };
  const run: RunOptions = {
    controller: name,
    kind: plan.primary,
    reconcile,
    queue,
    client: deps.client,
    cache: deps.cache,
    clock: deps.clock,
    log,
    events: deps.events,
    features: deps.features,
    observer,
    outcomes,
    timeoutMs: options.reconcileTimeoutMs,
    signal: abort.signal,
    random: deps.random ?? Math.random,
    ...(deps.onFatal && { onFatal: deps.onFatal }),
  };
  const workers = createWorkers({
    count: options.maxConcurrentReconciles,
    queue,
    clock: deps.clock,
    run: (item) => runOnce(run, item, parseKey(item.key)),
    onActive: (active) => observer.onActive?.(name, active),
  });
  const sources = createSourceSet(plan, {
    cache: deps.cache,
    clock: deps.clock,
    log,
    cacheSyncTimeoutMs: deps.cacheSyncTimeoutMs,
    enqueue: (key, priority) => queue.add(keyToString(key), { priority }),
    onState: setState,
    onReady: (ready) => (ready ? workers.resume() : workers.pause()),
  });
  const enqueue: Controller["enqueue"] = (key, { priority, afterMs } = {}) => {
    const add = priority === undefined ? {} : { priority };
    if (afterMs === undefined) queue.add(keyToString(key), add);
    else queue.addAfter(keyToString(key), afterMs, add);
  };

  return {
    name,
    options,
    get state() {
      return state;
    },
    sources: plan.sources,
    enqueue,
    warmUp: (signal) => sources.start(signal),
    async run(signal) {
      const onAbort = (): void => abort.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      await sources.start(signal);
      for (const source of plan.rawSources) {
        const started = Promise.resolve(source.start(enqueue, AbortSignal.any([signal, abort.signal])));
        started.catch((error) => log.error("source failed", { source: source.name, error }));
      }
      await workers.run();
    },
    async stop(drainMs) {
      queue.shutDown();
      const drained = await workers.drain(drainMs);
      if (!drained) {
        abort.abort(new Error("the manager is shutting down"));
        await workers.drain(ABORT_GRACE_MS);
      }
      sources.stop();
      setState("Stopped");
      const stuck = workers.running();
      abort.abort(new Error("the controller has stopped"));
      return { stuck };
    },
    explain: (key: ObjectKey) => {
      const text = keyToString(key);
      const outcome = outcomes.get(text);
      return {
        controller: name,
        state,
        queue: queue.inspect(text),
        queueLength: queue.length,
        lastOutcome: outcome && {
          result: outcome.result,
          at: new Date(outcome.at).toISOString(),
          seconds: outcome.seconds,
          ...(outcome.error === undefined ? {} : { error: messageOf(outcome.error) }),
        },
      };
    },
  };
}

/** Time that reconciles get to end once their signal has aborted. */
const ABORT_GRACE_MS = 1000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
