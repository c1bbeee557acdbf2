/** The informers of a controller: started together, waited for, and watched for kinds that come and go. */
import type { Cache, Informer, SourceState } from "../cache/types.ts";
import type { Clock } from "../clock.ts";
import { apiVersionOf, type Kind, type KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { ControllerSetupError } from "./errors.ts";
import { type Enqueue, queueingHandler, usualPriority } from "./handlers.ts";
import type { BuiltSource, ControllerPlan } from "./plan.ts";
import { createReadiness, isSettled, type Readiness, type StartedSource } from "./readiness.ts";
import type { ControllerState, InformerLookup } from "./types.ts";
import { withinTime } from "./within-time.ts";

export interface SourceSetOptions {
  cache: Cache;
  clock: Clock;
  log: Logger;
  /** Longest wait for the caches in milliseconds; 0 waits for ever. */
  cacheSyncTimeoutMs: number;
  enqueue: Enqueue;
  onState: (state: ControllerState) => void;
  /** True when reconciles may run: all required informers are synced now. */
  onReady: (ready: boolean) => void;
  /** An event was lost to a map function that fails. */
  onLost: () => void;
}

export interface SourceSet {
  /**
   * Starts the informers once and resolves when every source is synced or known to be waiting for its kind or right.
   * Rejects with the sources that are neither when the time is over.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Adds a source that nothing waits for; it starts with the others, or at once. Returns the function that ends it. */
  add(source: BuiltSource): () => void;
  stop(): void;
}

export function createSourceSet(plan: ControllerPlan, options: SourceSetOptions): SourceSet {
  const { cache, clock } = options;
  const abort = new AbortController();
  const settled = Promise.withResolvers<void>();
  const late = new Set<BuiltSource>();
  const ends = new Map<BuiltSource, () => void>();
  let started: StartedSource[] | undefined;
  let readiness: Readiness | undefined;

  const evaluate = (): void => {
    if (started === undefined || abort.signal.aborted) return;
    readiness?.evaluate();
    if (started.every(isSettled)) settled.resolve();
  };
  const begin = (): void => {
    const list = plan.sources.map((source) => ({
      source,
      informer: cache.informer(source.kind, source.options),
    }));
    started = list;
    readiness = createReadiness(list, { clock, onState: options.onState, onReady: options.onReady });
    for (const setUp of plan.setup) setUp(lookupIn(plan, list));
    for (const one of list) ends.set(one.source, follow(plan, options, one, abort.signal, evaluate));
    for (const source of late) startLate(source);
  };
  const startLate = (source: BuiltSource): void => {
    const informer = cache.informer(source.kind, source.options);
    ends.set(
      source,
      follow(plan, options, { source, informer }, abort.signal, () => {}),
    );
  };

  return {
    async start(signal) {
      if (started === undefined) begin();
      evaluate();
      const failure = (): Error => unsynced(plan, started ?? []);
      await withinTime(settled.promise, { signal, clock, ms: options.cacheSyncTimeoutMs, failure });
    },
    add(source) {
      late.add(source);
      if (started !== undefined && !abort.signal.aborted) startLate(source);
      return () => {
        late.delete(source);
        ends.get(source)?.();
        ends.delete(source);
      };
    },
    stop() {
      abort.abort();
      readiness?.stop();
      for (const end of ends.values()) end();
      ends.clear();
    },
  };
}

/** Queues what happens in a source, and tells of its states. Returns the function that gives the informer back. */
function follow(
  plan: ControllerPlan,
  options: SourceSetOptions,
  { source, informer }: StartedSource,
  signal: AbortSignal,
  onState: () => void,
): () => void {
  const { cache, clock, log, enqueue, onLost } = options;
  const handler = queueingHandler({
    map: source.map,
    predicates: [...source.predicates, ...plan.predicates],
    priority: plan.queue.priority ?? usualPriority,
    enqueue,
    clock,
    log,
    onLost,
    signal,
  });
  const undo = [
    informer.addHandler(handler),
    informer.onState((state) => {
      logAbsence(log, source, informer, state);
      onState();
    }),
  ];
  return () => {
    for (const fn of undo) fn();
    cache.release(informer);
  };
}

function logAbsence(log: Logger, source: BuiltSource, informer: Informer, state: SourceState): void {
  if (state !== "waiting-for-kind" && state !== "forbidden") return;
  const optional = source.options.optional ?? false;
  const { kind } = source;
  const fields = {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    state,
    optional,
    error: informer.lastError,
  };
  // A missing right stops the controller; a kind may well be installed later.
  if (state === "forbidden" && !optional) log.error("source is not available, waiting for it", fields);
  else log.warn("source is not available, waiting for it", fields);
}

function lookupIn(plan: ControllerPlan, list: readonly StartedSource[]): InformerLookup {
  return <T extends KubeObject>({ group, kind }: Kind<T>) => {
    const found = list.find(({ source }) => source.kind.kind === kind && source.kind.group === group);
    if (found === undefined) throw new ControllerSetupError(plan.name, `it has no source of kind ${kind}`);
    return found.informer as unknown as Informer<T>;
  };
}

function unsynced(plan: ControllerPlan, started: readonly StartedSource[]): Error {
  const list = started
    .filter((one) => !isSettled(one))
    .map(({ source, informer }) => {
      const { lastError } = informer;
      const reason = lastError instanceof Error ? `: ${lastError.message}` : "";
      return `${source.kind.kind} of ${apiVersionOf(source.kind)}${reason}`;
    });
  return new ControllerSetupError(plan.name, `caches did not sync in time: ${list.join("; ")}`);
}
