/** Contracts between a controller and the framework. */
import type { CacheEvent, Informer, InformerOptions, Projection } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { DeepReadonly, Kind, KubeObject, ObjectKey } from "../object.ts";
import type { EventRecorder, Logger } from "../observe/types.ts";
import type { RateLimiter } from "../queue/rate-limiter.ts";

/** Outcome of a successful reconcile (CORE-226, 227). */
export interface Result {
  /** Run again after so many milliseconds, 0–10 % jitter added. */
  requeueAfter?: number;
  /** No jitter on `requeueAfter`. */
  exact?: boolean;
  /** Priority of the delayed run. */
  priority?: number;
}

export interface ListFilter {
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
}

/** A source of a controller, to be read at once. */
export type Source<T extends KubeObject = KubeObject> = Pick<
  Informer<T>,
  "kind" | "get" | "list" | "byIndex" | "state" | "lastError" | "hasSynced" | "everSynced"
>;

/**
 * What a controller may read: the kinds that it declared. Anything else throws `NotCachedError`, and so do the reads
 * of a source that never could be read, be it for want of its kind or of a right.
 */
export interface SourceReader {
  /** The object with this process's own newer writes; `undefined` when there is none. */
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<DeepReadonly<T> | undefined>;
  list<T extends KubeObject>(kind: Kind<T>, filter?: ListFilter): Promise<readonly DeepReadonly<T>[]>;
  /** Objects by an index of the builder, or by one that is always there. */
  byIndex<T extends KubeObject>(kind: Kind<T>, index: string, value: string): readonly DeepReadonly<T>[];
  /**
   * What a reference of the reconciled object names, as it is known now: an object or none, all objects of a selection.
   * Throws `UnreadableError` when that is not known, `NotCachedError` for what the object does not refer to.
   */
  referred<T extends KubeObject>(kind: Kind<T>, reference: Reference): readonly DeepReadonly<T>[];
  /** The source itself, which tells its state as well. */
  source<T extends KubeObject>(kind: Kind<T>): Source<T>;
}

/** What a reconcile gets beside its key. */
export interface ReconcileContext {
  /** Aborts on time-out, on a lost lease, and 20 s into a shutdown. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** UUID of this run, on every log line of it. */
  readonly reconcileID: string;
  /** Requests under this controller's name, ended by `signal`; writes are fenced while leadership is required. */
  readonly client: Client;
  readonly cache: SourceReader;
  readonly events: EventRecorder;
  readonly priority: number;
  /** Failures of this key since its last success, from 0. */
  readonly attempt: number;
  /** Feature gates by name. */
  readonly features: Readonly<Record<string, boolean>>;
  /**
   * Set when nothing may be changed (`--dry-run-controllers`): the client sees to itself, but whoever changes things
   * outside the cluster must leave them alone.
   */
  readonly dryRun?: boolean;
}

/** Brings one object to its desired state. Level-triggered: it is not told what happened. */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconcile without anything to say returns nothing
export type Reconcile = (key: ObjectKey, ctx: ReconcileContext) => Promise<Result | void>;

/** Decides whether a cache event queues anything. It never filters the cache itself. */
export type Predicate<T extends KubeObject = KubeObject> = (event: CacheEvent<T>) => boolean;

/**
 * Keys to queue for an object that changed. Runs on the old and the new object of an update (CORE-222), and not before
 * everything that it may read is there.
 */
export type MapFn<T extends KubeObject = KubeObject> = (
  object: DeepReadonly<T>,
  cache: SourceReader,
) => readonly ObjectKey[] | Promise<readonly ObjectKey[]>;

/** Adds keys to a controller's queue from outside the cache (CORE-225). */
export interface RawSource {
  readonly name: string;
  start(
    enqueue: (key: ObjectKey, options?: { priority?: number; afterMs?: number }) => void,
    signal: AbortSignal,
  ): Promise<void> | void;
}

/** Changes in a row make one reconcile: it comes `ms` after the last of them, and `maxMs` after the first at the latest. */
export interface Debounce {
  readonly ms: number;
  readonly maxMs: number;
}

/** Sees every event of a source, old and new object, before it queues anything; for expectations and the like. */
export type EventHandler<T extends KubeObject = KubeObject> = (
  event: CacheEvent<T>,
  enqueue: (key: ObjectKey, options?: { priority?: number; afterMs?: number }) => void,
  cache: SourceReader,
) => void;

export interface SourceOptions<T extends KubeObject = KubeObject> extends InformerOptions<T> {
  predicates?: readonly Predicate<T>[];
  debounce?: Debounce;
  onEvent?: EventHandler<T>;
}

/**
 * An object that a resource refers to, in the resource's own namespace unless it says otherwise: its name, or the
 * labels of a selection. No object can have a name that the API server would refuse, so none is followed.
 */
export type Reference =
  | string
  | { readonly name: string; readonly namespace?: string }
  | { readonly labels: Readonly<Record<string, string>>; readonly namespace?: string };

export interface ReferenceOptions<T extends KubeObject = KubeObject> {
  /** Default: a change queues the resource at once. */
  debounce?: Debounce;
  /** What is kept of the objects of a selection. */
  projection?: Projection<T>;
  /** Allows references to other namespaces than the resource's own. Default false. */
  elsewhere?: boolean;
}

export interface OwnsOptions<T extends KubeObject = KubeObject> extends SourceOptions<T> {
  /** Queue every owner of the `for` kind, not the controlling one only. */
  matchEveryOwner?: boolean;
}

export interface ControllerOptions {
  /** What the manager's settings say of this controller's module by name goes first (CORE-233). Default: their value for all. */
  maxConcurrentReconciles?: number;
  reconcileTimeoutMs?: number;
  /** False for controllers that run on every replica. Default true. */
  needLeaderElection?: boolean;
}

/** How a controller's queue differs from the usual one (CORE-213). */
export interface QueuePlan {
  /** Delays of failed keys. Default: 5 ms × 2^n up to 1 000 s, and 10 a second over all keys. */
  rateLimiter?: (clock: Clock) => RateLimiter;
  /** Priority of the keys of an event. Default: {@link LOW_PRIORITY} for initial lists and resyncs, else 0. */
  priority?: (event: CacheEvent) => number;
}

/** Undoes what a controller did outside the cluster; safe to run again. */
export type Cleanup<T extends KubeObject = KubeObject> = (
  object: DeepReadonly<T>,
  ctx: ReconcileContext,
) => Promise<void>;

/** Life of a controller as the gauge `quartet_controller_state` shows it. */
export type ControllerState =
  | "Starting"
  | "WaitingForCRD"
  | "Syncing"
  | "Running"
  | "Paused"
  | "Failed"
  | "Stopped";

/** A built controller, ready to be run by a manager. */
export interface Controller {
  readonly name: string;
  readonly state: ControllerState;
  /** What its author chose with `withOptions`. */
  readonly declared: ControllerOptions;
  readonly options: Required<ControllerOptions>;
  /** Kinds that it reads, with their scopes, for RBAC and preflight. */
  readonly sources: readonly ControllerSource[];
  /** Why it does not work, for people; `undefined` while it does. */
  readonly problem: string | undefined;
  /** Opens the informers; nothing is queued yet (warm-up, CORE-235). */
  warmUp(): void;
  /** Runs until `stop` or until the signal aborts. What keeps it from starting is told, and tried again. */
  run(signal: AbortSignal): Promise<void>;
  /** Takes no new work and waits for running reconciles; then aborts their signals (CORE-262). */
  stop(drainMs: number): Promise<{ stuck: readonly string[] }>;
  /** Queues a key by hand. */
  enqueue(key: ObjectKey, options?: { priority?: number; afterMs?: number }): void;
  /** Changes the number of reconciles that may run at once; running ones end as usual (CORE-400). */
  setMaxConcurrentReconciles(count: number): void;
  /**
   * Adds a source to a controller that may run already: it starts at once, and no reconcile waits for its first list
   * (CORE-234). Returns the function that ends it.
   */
  watch<T extends KubeObject>(kind: Kind<T>, map: MapFn<T>, options?: SourceOptions<T>): () => void;
  /** Queue and outcome of a key, for `quartet explain`. */
  explain(key: ObjectKey): Record<string, unknown>;
}

/** A kind that somebody reads, and how much of it. */
export interface DeclaredSource {
  readonly kind: Kind;
  readonly options?: InformerOptions;
}

export interface ControllerSource {
  readonly kind: Kind;
  readonly options: InformerOptions;
  readonly role: "for" | "owns" | "watches";
}

/** `controller(name).for(kind).owns(kind)…complete(reconcile)` (CORE-220). `P` is the type of the `for` kind. */
export interface ControllerBuilder<P extends KubeObject = KubeObject> {
  for<T extends KubeObject>(kind: Kind<T>, options?: SourceOptions<T>): ControllerBuilder<T>;
  owns<T extends KubeObject>(kind: Kind<T>, options?: OwnsOptions<T>): ControllerBuilder<P>;
  watches<T extends KubeObject>(
    kind: Kind<T>,
    map: MapFn<T>,
    options?: SourceOptions<T>,
  ): ControllerBuilder<P>;
  watchesRaw(source: RawSource): ControllerBuilder<P>;
  /** Predicates that events of every source must pass, beside the source's own. */
  withPredicates(...predicates: readonly Predicate[]): ControllerBuilder<P>;
  withOptions(options: ControllerOptions): ControllerBuilder<P>;
  withQueue(queue: QueuePlan): ControllerBuilder<P>;
  /**
   * Guards objects of the `for` kind by a finalizer, `domain/name`: it is on the object before the reconcile first
   * runs, and goes when the cleanup of an object being deleted has succeeded (CORE-239, 305 to 308). The reconcile
   * does not run for objects being deleted.
   */
  finalizer(name: string, cleanup: Cleanup<P>): ControllerBuilder<P>;
  /**
   * What the objects of the `for` kind refer to. It is watched while somebody refers to it, one watch for each kind and
   * namespace whatever the number of names, and read by `ctx.cache`: by key, or by the labels of a selection. A change
   * queues whoever refers to it. A resource is handed out when all that it refers to is known; what cannot be read
   * within 10 s throws `UnreadableError` when it is read (CORE-245).
   */
  references<R extends KubeObject>(
    kind: Kind<R>,
    refs: (resource: DeepReadonly<P>, cache: SourceReader) => readonly Reference[],
    options?: ReferenceOptions<R>,
  ): ControllerBuilder<P>;
  /** Limits the requests of this controller, beside the limit of the process. Default: none. */
  withClientRate(perSecond: number, burst: number): ControllerBuilder<P>;
  /**
   * Index over the objects of a declared kind, for {@link SourceReader.byIndex}; its name belongs to this controller. A
   * function that throws keeps the controller from starting; later, the object is left out of the index (CORE-182).
   */
  index<T extends KubeObject>(
    kind: Kind<T>,
    name: string,
    fn: (object: DeepReadonly<T>) => readonly string[],
  ): ControllerBuilder<P>;
  complete(reconcile: Reconcile): Controller;
}
