/** The parts that an informer is made of, and how they hang together. */
import type { Client } from "../../client/types.ts";
import type { Clock } from "../../clock.ts";
import { type KubeObject, keyOf, type ObjectKey } from "../../object.ts";
import type { Logger } from "../../observe/types.ts";
import type { CacheObserver } from "../observer.ts";
import type { Permits } from "../reflector/permits.ts";
import { startReflector } from "../reflector/reflector.ts";
import type { ServerFacts } from "../reflector/server-facts.ts";
import { describeScope, resourceName, type Scope } from "../scope.ts";
import type { NamespaceUsage } from "../store/budget.ts";
import { createIndexes, type Indexes } from "../store/indexes.ts";
import { createPreparation } from "../store/projections.ts";
import { reportAside } from "../store/set-aside.ts";
import { createDeliver, type Registration } from "./feed.ts";
import { createShard, type Shard } from "./shard.ts";
import { combineStates, createStateTracker, type StateTracker } from "./states.ts";

/** What all informers of a cache share. */
export interface InformerContext {
  client: Client;
  server: ServerFacts;
  clock: Clock;
  /** For the pages of lists that are in memory. */
  pages: Permits;
  log: Logger;
  random: () => number;
  observer: CacheObserver;
  /** Freeze cached objects. */
  guard: boolean;
  /** Interval between resyncs in milliseconds; 0 for none. */
  resyncMs: number;
  /** What all informers keep of each namespace. */
  usage: NamespaceUsage;
}

export interface InformerCore<T extends KubeObject> {
  readonly context: InformerContext;
  readonly log: Logger;
  /** By namespace; the only one of an informer over all namespaces stands under `""`. */
  readonly shards: Map<string, Shard<T>>;
  readonly indexes: Indexes<T>;
  readonly tracker: StateTracker;
  /** Last error of each shard. */
  readonly errors: Map<string, unknown>;
  scope: Scope<T>;
  prepare: (object: T) => T;
  registrations: readonly Registration<T>[];
  /** Nobody depends on the source. */
  optional: boolean;
}

/** Builds the parts and starts the reflectors. */
export function startCore<T extends KubeObject>(scope: Scope<T>, context: InformerContext): InformerCore<T> {
  const { group, version, plural: resource } = scope.kind;
  const log = context.log.with({ group, version, resource });
  const tracker = createStateTracker({
    what: `${resourceName(scope.kind)} ${describeScope(scope)}`.trim(),
    onListenerError: (error) => log.error("listener for the state of an informer failed", { error }),
  });
  const indexes = createIndexes<T>({
    resource: resourceName(scope.kind),
    onError(error, key, owned) {
      log.error("index function failed, the object is not in this index", { ...key, error });
      if (!tracker.everSynced && !owned) tracker.failStartup(error);
    },
  });
  const core: InformerCore<T> = {
    context,
    log,
    shards: new Map(),
    indexes,
    tracker,
    errors: new Map(),
    scope,
    prepare: preparationOf(scope, context, log),
    registrations: [],
    optional: true,
  };
  const { namespaces } = scope;
  for (const namespace of namespaces.length === 0 ? [""] : namespaces) {
    core.shards.set(namespace, openShard(core, namespace));
  }
  return core;
}

/** Starts over for a scope that keeps more of each object. */
export function restartCore<T extends KubeObject>(core: InformerCore<T>, scope: Scope<T>): void {
  core.scope = scope;
  core.prepare = preparationOf(scope, core.context, core.log);
  core.tracker.restart();
  for (const shard of core.shards.values()) shard.restart();
}

/** The shard that holds a namespace; `undefined` when the informer does not cover it. */
export function shardOf<T extends KubeObject>(
  core: InformerCore<T>,
  namespace: string,
): Shard<T> | undefined {
  return core.shards.get("") ?? core.shards.get(namespace);
}

/** Object of a key with own writes laid over it. */
export function readKey<T extends KubeObject>(core: InformerCore<T>, key: ObjectKey): T | undefined {
  return shardOf(core, key.namespace)?.get(key);
}

function preparationOf<T extends KubeObject>(
  { kind, projection }: Scope<T>,
  { guard }: InformerContext,
  log: Logger,
): (object: T) => T {
  return createPreparation({ kind, projection, guard, log });
}

function openShard<T extends KubeObject>(core: InformerCore<T>, namespace: string): Shard<T> {
  const { context, shards, errors, tracker, indexes } = core;
  const { kind } = core.scope;
  const log = namespace === "" ? core.log : core.log.with({ namespace });
  return createShard<T>({
    clock: context.clock,
    startReflector(sink) {
      const { labelSelector, fieldSelector, projection, limits } = core.scope;
      const metadataOnly =
        projection === "metadata" || (typeof projection === "object" && projection.metadataOnly === true);
      return startReflector({
        ...context,
        log,
        collection: { kind, namespace, labelSelector, fieldSelector, metadataOnly },
        isOptional: () => core.optional,
        prepare: core.prepare,
        limits,
        sink,
      });
    },
    handlers: () => core.registrations,
    deliver: createDeliver<T>((error, event) => {
      context.observer.handlerError?.(kind);
      const { namespace, name } = keyOf(event.object);
      core.log.error("handler of a cache event failed", { namespace, name, event: event.type, error });
    }),
    onKey: (key) => indexes.set(key, readKey(core, key)),
    onState: () => tracker.update(combineStates(Array.from(shards.values(), ({ state }) => state))),
    onError: (error) => void errors.set(namespace, error),
    onSetAside: (entry, before) => reportAside(core.log, entry, before),
    onOverlayExpired(key) {
      context.observer.overlayExpired?.(kind);
      log.debug("own write did not come back through the watch in time", { name: key.name });
    },
  });
}
