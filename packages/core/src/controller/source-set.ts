/** The informers of a controller: opened together or not at all, waited for, and watched for kinds that come and go. */
import type { Cache, Informer, SourceState } from "../cache/types.ts";
import type { Clock } from "../clock.ts";
import { apiVersionOf, type DeepReadonly, type KubeObject, type ObjectKey } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { ControllerSetupError } from "./errors.ts";
import { queueingHandler, usualPriority } from "./handlers.ts";
import type { BuiltSource, ControllerPlan } from "./plan.ts";
import { createReadiness, type Readiness, type StartedSource } from "./readiness.ts";
import { createSourceReader, indexName } from "./source-reader.ts";
import type { Controller, ControllerState, Debounce, SourceReader } from "./types.ts";

/** Pauses before a controller that could not be set up is set up again: 1 s, doubled each time, at most 1 min. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface SourceSetOptions {
  cache: Cache;
  clock: Clock;
  log: Logger;
  /** Longest wait for the first lists in milliseconds; 0 waits for ever. */
  cacheSyncTimeoutMs: number;
  /** Adds a key that an event is about. */
  enqueue: (key: ObjectKey, priority: number, debounce: Debounce | undefined) => void;
  /** For event handlers. */
  enqueueByHand: Controller["enqueue"];
  onState: (state: ControllerState) => void;
  /** True when reconciles may run: all required informers are synced now. */
  onReady: (ready: boolean) => void;
  /** Events are delivered from now on; called once. */
  onDelivery: () => void;
  /** An event was lost to a map function that fails. */
  onLost: () => void;
}

export interface SourceSet {
  /** Opens the informers, once. What fails is told, and tried again until {@link SourceSet.stop}. */
  open(): void;
  /** Opens them, and queues what they hold and what changes as soon as all of them are there. */
  deliver(): void;
  /** Adds a source that nothing waits for; it starts with the others, or at once. Returns the function that ends it. */
  add(source: BuiltSource): () => void;
  /** What the controller may read. */
  readonly reader: SourceReader;
  /** Object of the `for` kind as it is cached. */
  primary(key: ObjectKey): DeepReadonly<KubeObject> | undefined;
  /** Why the controller does not work; `undefined` while it does, or has yet to begin. */
  problem(): string | undefined;
  stop(): void;
}

/** A source whose informer is held. */
interface OpenSource extends StartedSource {
  /** Queues what happens; nothing is queued before. */
  follow(): void;
  /** Called last to first by {@link OpenSource.close}. */
  readonly undo: (() => void)[];
  close(): void;
}

export function createSourceSet(plan: ControllerPlan, options: SourceSetOptions): SourceSet {
  const { clock, log } = options;
  const abort = new AbortController();
  const reader = createSourceReader(plan.name, options.cache, () => [
    ...(opened ?? []),
    ...[...late.values()].filter((source) => source !== undefined),
  ]);
  const late = new Map<BuiltSource, OpenSource | undefined>();
  let opened: readonly OpenSource[] | undefined;
  let readiness: Readiness | undefined;
  let failure: unknown;
  let pauseMs = FIRST_PAUSE_MS;
  let cancelRetry = (): void => {};
  let wanted = false;
  let delivering = false;

  const evaluate = (): void => {
    if (abort.signal.aborted) return;
    readiness?.evaluate();
    if (!wanted || delivering || readiness?.everReady !== true) return;
    delivering = true;
    for (const source of [...(opened ?? []), ...late.values()]) source?.follow();
    options.onDelivery();
  };
  const close = (): void => {
    readiness?.stop();
    readiness = undefined;
    for (const source of opened ?? []) source.close();
    opened = undefined;
  };
  const fail = (error: unknown): void => {
    close();
    failure = error;
    log.error("controller cannot be set up, trying again", { controller: plan.name, error, pauseMs });
    options.onState("Failed");
    cancelRetry = clock.setTimer(pauseMs, begin, { unref: true });
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  };
  const begin = (): void => {
    try {
      let first = true;
      const current = openAll(
        plan,
        { ...options, reader, signal: abort.signal },
        {
          onChange: evaluate,
          onIndexError(error) {
            // Later, an object that the function cannot take is left out of its index.
            if (!first || readiness?.everReady) return;
            first = false;
            // The informer is in the midst of its list.
            queueMicrotask(() => opened === current && fail(error));
          },
        },
      );
      opened = current;
    } catch (error) {
      fail(error);
      return;
    }
    failure = undefined;
    readiness = createReadiness(opened, {
      clock,
      syncTimeoutMs: options.cacheSyncTimeoutMs,
      onState: options.onState,
      onReady: options.onReady,
      onLate: () => log.error("controller waits for its caches", { error: unsynced(plan, opened ?? []) }),
    });
    for (const [source, open] of late) if (open === undefined) late.set(source, openLate(source));
    evaluate();
  };
  const openLate = (source: BuiltSource): OpenSource => {
    const open = openSource(plan, { ...options, reader, signal: abort.signal }, source, () => {});
    if (delivering) open.follow();
    return open;
  };
  const open = (): void => {
    if (opened === undefined && failure === undefined && !abort.signal.aborted) begin();
  };

  return {
    open,
    deliver() {
      wanted = true;
      open();
      evaluate();
    },
    add(source) {
      const started = opened !== undefined && !abort.signal.aborted;
      late.set(source, started ? openLate(source) : undefined);
      return () => {
        late.get(source)?.close();
        late.delete(source);
      };
    },
    reader,
    primary: (key) => opened?.find(({ source }) => source.role === "for")?.informer.get(key),
    problem() {
      if (failure !== undefined) return failure instanceof Error ? failure.message : String(failure);
      const waiting = (opened ?? []).filter(
        ({ source, informer }) => !source.options.optional && informer.state !== "synced",
      );
      return waiting.length === 0 ? undefined : unsynced(plan, waiting).message;
    },
    stop() {
      abort.abort();
      cancelRetry();
      close();
      for (const source of late.values()) source?.close();
    },
  };
}

interface OpenOptions extends SourceSetOptions {
  reader: SourceReader;
  signal: AbortSignal;
}

interface OpenHooks {
  onChange: () => void;
  onIndexError: (error: unknown) => void;
}

/** Opens every source and index of a plan; when one fails, the others are given back. */
function openAll(plan: ControllerPlan, options: OpenOptions, hooks: OpenHooks): OpenSource[] {
  const opened: OpenSource[] = [];
  try {
    for (const source of plan.sources) opened.push(openSource(plan, options, source, hooks.onChange));
    for (const { kind, name, fn } of plan.indexes) {
      const found = opened.filter(({ source }) => isOf(source, kind));
      if (found.length === 0)
        throw new ControllerSetupError(plan.name, `it has no source of kind ${kind.kind}`);
      for (const { undo, informer } of found)
        undo.push(informer.addIndex(indexName(plan.name, name), fn, hooks.onIndexError));
    }
  } catch (error) {
    for (const source of opened) source.close();
    throw error;
  }
  return opened;
}

const isOf = ({ kind }: BuiltSource, other: { group: string; kind: string }): boolean =>
  kind.group === other.group && kind.kind === other.kind;

function openSource(
  plan: ControllerPlan,
  options: OpenOptions,
  source: BuiltSource,
  onChange: () => void,
): OpenSource {
  const { cache, clock, log, enqueue, onLost, reader, signal } = options;
  const informer = cache.informer(source.kind, source.options);
  const undo = [
    () => cache.release(informer),
    informer.onState((state) => {
      logAbsence(log, source, informer, state);
      onChange();
    }),
  ];
  return {
    source,
    informer,
    undo,
    follow() {
      const handler = queueingHandler({
        map: (object) => source.map(object, reader),
        predicates: [...source.predicates, ...plan.predicates],
        onEvent: source.onEvent && ((event) => source.onEvent?.(event, options.enqueueByHand, reader)),
        priority: plan.queue.priority ?? usualPriority,
        enqueue: (key, priority) => enqueue(key, priority, source.debounce),
        clock,
        log,
        onLost,
        signal,
      });
      undo.push(informer.addHandler(handler));
    },
    close() {
      for (const fn of undo.splice(0).reverse()) fn();
    },
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

/** Names the sources that are not there, with their last errors. */
function unsynced(plan: ControllerPlan, sources: readonly StartedSource[]): Error {
  const list = sources
    .filter((one) => !one.informer.hasSynced())
    .map(({ source, informer }) => {
      const { lastError } = informer;
      const reason = lastError instanceof Error ? `: ${lastError.message}` : "";
      return `${source.kind.kind} of ${apiVersionOf(source.kind)}${reason}`;
    });
  return new ControllerSetupError(plan.name, `caches did not sync in time: ${list.join("; ")}`);
}
