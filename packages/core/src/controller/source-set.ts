/** The informers of a controller: started together, waited for, and watched for kinds that come and go. */
import type { Cache, Informer, SourceState } from "../cache/types.ts";
import type { Clock } from "../clock.ts";
import { apiVersionOf, type Kind, type KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import type { BuiltSource, ControllerPlan } from "./builder.ts";
import { ControllerSetupError } from "./errors.ts";
import { type Enqueue, queueingHandler } from "./handlers.ts";
import type { ControllerState } from "./types.ts";

/** A list that stays forbidden for so long makes the controller not ready (CORE-238). */
const FORBIDDEN_FAILS_AFTER_MS = 120_000;

export interface SourceSetOptions {
  cache: Cache;
  clock: Clock;
  log: Logger;
  cacheSyncTimeoutMs: number;
  enqueue: Enqueue;
  onState: (state: ControllerState) => void;
  /** True when reconciles may run: all required informers are synced now. */
  onReady: (ready: boolean) => void;
}

export interface SourceSet {
  /**
   * Starts the informers once and resolves when every source is synced or known to be waiting for its kind or right.
   * Rejects with the sources that are neither when the time is over.
   */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
}

interface Started {
  source: BuiltSource;
  informer: Informer;
}

export function createSourceSet(plan: ControllerPlan, options: SourceSetOptions): SourceSet {
  const { cache, clock, log } = options;
  const abort = new AbortController();
  const undo: (() => void)[] = [];
  let started: Started[] | undefined;
  let settled = Promise.withResolvers<void>();
  let cancelForbidden = (): void => {};

  const evaluate = (): void => {
    if (started === undefined || abort.signal.aborted) return;
    const required = started.filter(({ source }) => !source.options.optional);
    const has = (state: SourceState): boolean => required.some(({ informer }) => informer.state === state);
    const ready = required.every(({ informer }) => informer.state === "synced");
    cancelForbidden();
    if (ready) options.onState("Running");
    else if (has("waiting-for-kind")) options.onState("WaitingForCRD");
    else if (has("forbidden")) {
      options.onState("Syncing");
      cancelForbidden = clock.setTimer(FORBIDDEN_FAILS_AFTER_MS, () => options.onState("Failed"), {
        unref: true,
      });
    } else options.onState(required.every(({ informer }) => informer.hasSynced()) ? "Paused" : "Syncing");
    options.onReady(ready);
    if (started.every(isSettled)) settled.resolve();
  };

  const begin = (): Started[] => {
    const list = plan.sources.map((source) => ({
      source,
      informer: cache.informer(source.kind, source.options),
    }));
    const lookup = <T extends KubeObject>(kind: Kind<T>): Informer<T> => {
      const found = list.find(
        ({ source }) => source.kind.kind === kind.kind && source.kind.group === kind.group,
      );
      if (found === undefined)
        throw new ControllerSetupError(plan.name, `it has no source of kind ${kind.kind}`);
      return found.informer as unknown as Informer<T>;
    };
    for (const fn of plan.setup) fn(lookup);
    for (const { source, informer } of list) {
      const { map, predicates } = source;
      const handler = queueingHandler({
        map,
        predicates,
        enqueue: options.enqueue,
        clock,
        log,
        signal: abort.signal,
      });
      undo.push(informer.addHandler(handler), informer.onState(onStateOf(source, informer)));
    }
    return list;
  };

  const onStateOf = (source: BuiltSource, informer: Informer) => (state: SourceState) => {
    if (state === "waiting-for-kind" || state === "forbidden") {
      log.warn("source is not available, waiting for it", {
        kind: source.kind.kind,
        apiVersion: apiVersionOf(source.kind),
        state,
        optional: source.options.optional ?? false,
        error: informer.lastError,
      });
    }
    evaluate();
  };

  return {
    async start(signal) {
      if (started === undefined) {
        started = begin();
        evaluate();
      }
      await withinTime(settled.promise, signal, options, () => unsynced(plan, started ?? []));
    },
    stop() {
      abort.abort();
      cancelForbidden();
      for (const fn of undo.splice(0)) fn();
      for (const { informer } of started ?? []) cache.release(informer);
      started = [];
      settled = Promise.withResolvers<void>();
    },
  };
}

/** Nothing more is to be waited for: synced, or known to be missing or forbidden. */
function isSettled({ informer }: Started): boolean {
  return informer.hasSynced() || informer.state === "waiting-for-kind" || informer.state === "forbidden";
}

function unsynced(plan: ControllerPlan, started: readonly Started[]): Error {
  const late = started.filter((one) => !isSettled(one));
  const list = late.map(({ source, informer }) => {
    const { lastError } = informer;
    const reason = lastError instanceof Error ? `: ${lastError.message}` : "";
    return `${source.kind.kind} of ${apiVersionOf(source.kind)}${reason}`;
  });
  return new ControllerSetupError(plan.name, `caches did not sync in time: ${list.join("; ")}`);
}

function withinTime(
  promise: Promise<void>,
  signal: AbortSignal,
  options: SourceSetOptions,
  failure: () => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      cancel();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(signal.reason));
    const limit = options.cacheSyncTimeoutMs;
    const cancel = limit > 0 ? options.clock.setTimer(limit, () => end(() => reject(failure()))) : () => {};
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(() => end(resolve), reject);
  });
}
