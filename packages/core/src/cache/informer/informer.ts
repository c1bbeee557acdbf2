/** A shared informer: cached objects of one kind and scope, their indexes, and the handlers of their changes. */
import { controllerOf, type DeepReadonly, type KubeObject, keyOf, type ObjectKey } from "../../object.ts";
import { mutable } from "../guard.ts";
import type { InformerGauges } from "../observer.ts";
import { versionGauge } from "../resource-version.ts";
import { resourceName, type Scope, scopeLabel } from "../scope.ts";
import { createMatcher, hasLabels } from "../selectors.ts";
import type { IndexFn } from "../store/indexes.ts";
import { takeIn } from "../store/set-aside.ts";
import type { CacheHandler, Informer, SetAside } from "../types.ts";
import {
  type InformerContext,
  type InformerCore,
  readKey,
  restartCore,
  shardOf,
  startCore,
} from "./informer-core.ts";

/** Index by namespace; always there. */
export const NAMESPACE_INDEX = "namespace";
/** Index by the controlling owner, see {@link controlledBy}; always there. */
export const CONTROLLER_INDEX = "controller";
/** Part by which the interval between resyncs varies, so that not all informers resync at once. CORE-175. */
const RESYNC_JITTER = 0.1;

/** An informer as its cache sees it. */
export interface OwnedInformer<T extends KubeObject = KubeObject> extends Informer<T> {
  readonly scope: Scope<T>;
  /** Somebody cannot do without this source, so a missing kind is looked for more often. */
  require(): void;
  /** From metadata only to whole objects, for the same handlers and indexes. */
  upgrade(scope: Scope<T>): void;
  /** Lays a write of this process over the watch. */
  overlay(key: ObjectKey, written: KubeObject | "deleted", uid?: string): void;
  /** Keys of which only a live read is sure to be current. */
  liveKeys(): readonly ObjectKey[];
  isLive(key: ObjectKey): boolean;
  asideOf(key: ObjectKey): SetAside | undefined;
  stop(): Promise<void>;
}

/** Starts an informer. It runs until it is stopped. */
export function createInformer<T extends KubeObject>(
  scope: Scope<T>,
  context: InformerContext,
): OwnedInformer<T> {
  const core = startCore(scope, context);
  const { shards, tracker } = core;
  const stopResync = startResync(core);
  const forget = context.observer.informer?.(gaugesOf(core));

  return {
    kind: scope.kind,
    ...readsOf(core),
    ...indexesOf(core),
    overlay: overlayOf(core),
    get scope() {
      return core.scope;
    },
    get state() {
      return tracker.state;
    },
    get everSynced() {
      return tracker.everSynced;
    },
    get lastError() {
      return [...core.errors.values()].findLast((error) => error !== undefined);
    },
    addHandler: (handler) => addHandler(core, handler),
    onState: tracker.onState,
    synced: tracker.synced,
    setAside: () => Array.from(shards.values()).flatMap(({ aside }) => [...aside.values()]),
    asideOf: (key) => shardOf(core, key.namespace)?.aside.get(key),
    hasSynced: () => tracker.state === "synced",
    require() {
      if (!core.optional) return;
      core.optional = false;
      for (const shard of shards.values()) shard.retryNow();
    },
    upgrade: (next) => restartCore(core, next),
    liveKeys: () => Array.from(shards.values()).flatMap((shard) => shard.liveKeys()),
    isLive: (key) => shardOf(core, key.namespace)?.isLive(key) ?? false,
    async stop() {
      stopResync();
      for (const registration of core.registrations) registration.active = false;
      core.registrations = [];
      await Promise.all(Array.from(shards.values(), (shard) => shard.stop()));
      core.indexes.clear();
      forget?.();
    },
  };
}

function addHandler<T extends KubeObject>(core: InformerCore<T>, handler: CacheHandler<T>): () => void {
  const registration = { handler, active: true };
  core.registrations = [...core.registrations, registration];
  for (const shard of core.shards.values()) shard.join(registration);
  return () => {
    registration.active = false;
    core.registrations = core.registrations.filter((other) => other !== registration);
  };
}

function readsOf<T extends KubeObject>(core: InformerCore<T>): Pick<Informer<T>, "get" | "list"> {
  const { shards } = core;
  return {
    get: (key) => readKey(core, key) as DeepReadonly<T> | undefined,
    list(filter = {}) {
      const { namespace, labels } = filter;
      const found =
        namespace === undefined
          ? Array.from(shards.values()).flatMap((shard) => shard.list())
          : (shardOf(core, namespace)?.list(namespace) ?? []);
      const objects = found as DeepReadonly<T>[];
      return labels === undefined ? objects : objects.filter((object) => hasLabels(object, labels));
    },
  };
}

function indexesOf<T extends KubeObject>(core: InformerCore<T>): Pick<Informer<T>, "addIndex" | "byIndex"> {
  const { indexes, shards } = core;
  const resource = resourceName(core.scope.kind);
  const entries = function* (): Iterable<readonly [ObjectKey, T]> {
    for (const shard of shards.values()) for (const object of shard.list()) yield [keyOf(object), object];
  };
  const reads = readsOf(core);

  return {
    addIndex(name, fn, onError) {
      if (name === NAMESPACE_INDEX || name === CONTROLLER_INDEX) {
        throw new Error(`index ${JSON.stringify(name)} of ${resource} is built in; choose another name`);
      }
      const known = indexes.fn(name);
      const remove = (): void => indexes.remove(name);
      if (known === fn) return remove;
      if (known !== undefined) {
        throw new Error(`${resource} has another index ${JSON.stringify(name)} already; choose another name`);
      }
      indexes.add(name, fn as IndexFn<T>, entries(), onError);
      return remove;
    },
    byIndex(name, value) {
      if (name === NAMESPACE_INDEX) return reads.list({ namespace: value });
      // Built when it is first asked for: many kinds never need it.
      if (name === CONTROLLER_INDEX && !indexes.has(name)) indexes.add(name, controllersOf, entries());
      if (!indexes.has(name)) {
        throw new Error(`${resource} has no index ${JSON.stringify(name)}; add it with addIndex first`);
      }
      const objects: DeepReadonly<T>[] = [];
      for (const key of indexes.keys(name, value)) {
        const object = reads.get(key);
        if (object !== undefined) objects.push(object);
      }
      return objects;
    },
  };
}

/**
 * Value of {@link CONTROLLER_INDEX} for the objects of a namespace whose controlling owner has a UID. Owner references do
 * not cross namespaces: one of another namespace only claims to have that owner, and anybody can write it there.
 */
export function controlledBy(namespace: string | undefined, uid: string | undefined): string {
  return `${namespace ?? ""}/${uid ?? ""}`;
}

function controllersOf(object: KubeObject): string[] {
  const uid = controllerOf(object)?.uid;
  return uid === undefined ? [] : [controlledBy(object.metadata.namespace, uid)];
}

function overlayOf<T extends KubeObject>(core: InformerCore<T>): OwnedInformer<T>["overlay"] {
  const matches = matcherOf(core);
  return (key, written, uid) => {
    const shard = shardOf(core, key.namespace);
    if (shard === undefined || matches === undefined) return;
    if (written === "deleted") return shard.deleted(key, uid);
    if (!matches(written)) return shard.written(key, undefined, written.metadata);
    // The writer goes on using its object, so the cache takes a copy.
    const taken = takeIn(mutable(written) as T, core.prepare);
    // What cannot be taken in is set aside when the watch brings it.
    if ("object" in taken) shard.written(key, taken.object, written.metadata);
  };
}

function matcherOf<T extends KubeObject>(
  core: InformerCore<T>,
): ReturnType<typeof createMatcher> | undefined {
  try {
    return createMatcher(core.scope);
  } catch (error) {
    core.log.warn("selector cannot be evaluated here, reads may lag behind own writes", { error });
    return undefined;
  }
}

function startResync<T extends KubeObject>(core: InformerCore<T>): () => void {
  const { clock, random, resyncMs } = core.context;
  let cancel: () => void = () => {};
  const arm = (): void => {
    const ms = resyncMs * (1 - RESYNC_JITTER + 2 * RESYNC_JITTER * random());
    cancel = clock.setTimer(ms, resync, { unref: true });
  };
  const resync = (): void => {
    for (const shard of core.shards.values()) void shard.resync();
    arm();
  };
  if (resyncMs > 0) arm();
  return () => cancel();
}

function gaugesOf<T extends KubeObject>(core: InformerCore<T>): InformerGauges {
  const { clock } = core.context;
  const shards = () => Array.from(core.shards.values());
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    kind: core.scope.kind,
    get scope() {
      return scopeLabel(core.scope);
    },
    objects: () => sum(shards().map((shard) => shard.size)),
    setAside: () => sum(shards().map((shard) => shard.aside.size)),
    resourceVersion: () => Math.max(...shards().map((shard) => versionGauge(shard.position))),
    queuedItems: () => sum(shards().map((shard) => shard.queued)),
    secondsSinceContact: () =>
      (clock.monotonic() - Math.min(...shards().map((shard) => shard.lastContact))) / 1000,
  };
}
