/** One namespace's part of an informer, or all of it: a reflector, its store, and the overlay of own writes. */
import type { Clock } from "../../clock.ts";
import { type KubeObject, keyOf, type ObjectKey } from "../../object.ts";
import type { ReflectorSink } from "../reflector/effects.ts";
import type { Reflector } from "../reflector/reflector.ts";
import { createOverlay, type Overlay } from "../store/overlay.ts";
import { type AsideMap, keepEarlier } from "../store/set-aside.ts";
import { type Change, createObjectMap, createStore, type Store } from "../store/store.ts";
import type { SetAside, SourceState } from "../types.ts";
import type { Deliver, Registration } from "./feed.ts";
import { createFeed, type Feed } from "./feed.ts";

export interface ShardOptions<T extends KubeObject> {
  clock: Clock;
  /** Called at the start, and again at each {@link Shard.restart}. */
  startReflector: (sink: ReflectorSink<T>) => Reflector;
  /** Handlers at this moment. */
  handlers: () => readonly Registration<T>[];
  deliver: Deliver<T>;
  /** Reads of a key may give another object from now on. */
  onKey: (key: ObjectKey) => void;
  onState: () => void;
  /** Last error; `undefined` once a list succeeded. */
  onError: (error: unknown) => void;
  onOverlayExpired: (key: ObjectKey) => void;
  /** An object is set aside; `before` is its entry until now, if it was already. */
  onSetAside: (entry: SetAside, before: SetAside | undefined) => void;
}

export interface Shard<T extends KubeObject> {
  readonly state: SourceState;
  /** Version up to which the watch has come; `undefined` before the first list. */
  readonly position: string | undefined;
  /** Objects of the watch alone. */
  readonly size: number;
  /** Events that are still to be delivered. */
  readonly queued: number;
  /** Monotonic time of the last byte from the server. */
  readonly lastContact: number;
  /** Keys whose cached object cannot be trusted; only a live read is sure to be current. */
  liveKeys(): readonly ObjectKey[];
  isLive(key: ObjectKey): boolean;
  /** Objects that could not be taken in. */
  readonly aside: Omit<AsideMap, "set" | "delete" | "clear">;
  /** Object with own writes laid over it. */
  get(key: ObjectKey): T | undefined;
  /** All of a namespace, or all, with own writes laid over them. */
  list(namespace?: string): T[];
  /** Lays a write over the watch; `object` is absent where the informer's selectors leave it out. */
  written(key: ObjectKey, object: T | undefined, metadata: T["metadata"]): void;
  deleted(key: ObjectKey, uid: string | undefined): void;
  /** A handler that comes late gets everything: at once, or with the list that is under way. */
  join(registration: Registration<T>): void;
  /** Delivers each object again. */
  resync(): Promise<void>;
  /** Starts over with a new reflector, keeping what is cached until the new list replaces all of it. */
  restart(): void;
  retryNow(): void;
  /** Ends the watch and frees the objects. */
  stop(): Promise<void>;
}

/** What a shard consists of; shared by its reading and its writing side. */
interface Parts<T extends KubeObject> {
  readonly options: ShardOptions<T>;
  readonly store: Store<T>;
  readonly overlay: Overlay<T>;
  readonly feed: Feed<T>;
  aside: AsideMap;
  state: SourceState;
  position: string | undefined;
  /** Handlers can be fed from the store. */
  listed: boolean;
  /** Counts reflectors: what an earlier one still has to say is not heard. */
  generation: number;
}

export function createShard<T extends KubeObject>(options: ShardOptions<T>): Shard<T> {
  const parts = createParts(options);
  const { store, overlay, feed } = parts;
  let reflector = options.startReflector(sinkOf(parts));
  const ended: Promise<void>[] = [];

  return {
    get state() {
      return parts.state;
    },
    get position() {
      return parts.position;
    },
    get size() {
      return store.objects.size;
    },
    get queued() {
      return feed.queued;
    },
    get lastContact() {
      return reflector.lastContact;
    },
    liveKeys: () => overlay.keys().filter((key) => overlay.get(key)?.mode === "live"),
    get aside() {
      return parts.aside;
    },
    isLive: (key) => overlay.get(key)?.mode === "live",
    get: (key) => readKey(parts, key),
    list: (namespace) => readAll(parts, namespace),
    written: (key, object, metadata) =>
      overlay.written(key, { object, metadata }, store.objects.get(key), parts.position),
    deleted: (key, uid) => overlay.deleted(key, store.objects.get(key), uid),
    join: (registration) => feed.join(registration, parts.listed ? store.objects.values() : undefined),
    resync: () => feed.resync(() => store.objects.values(), store.objects.size),
    restart() {
      ended.push(reflector.stop());
      parts.generation++;
      parts.listed = false;
      setState(parts, "starting");
      overlay.clear();
      reflector = options.startReflector(sinkOf(parts));
    },
    retryNow: () => reflector.retryNow(),
    async stop() {
      setState(parts, "stopped");
      await Promise.all([...ended, reflector.stop()]);
      store.clear();
      parts.aside.clear();
      overlay.clear();
    },
  };
}

function createParts<T extends KubeObject>(options: ShardOptions<T>): Parts<T> {
  return {
    options,
    store: createStore<T>(),
    overlay: createOverlay<T>({
      clock: options.clock,
      onChange: options.onKey,
      onExpired: options.onOverlayExpired,
    }),
    feed: createFeed<T>(options),
    aside: createObjectMap<SetAside>(),
    state: "starting",
    position: undefined,
    listed: false,
    generation: 0,
  };
}

function setState<T extends KubeObject>(parts: Parts<T>, next: SourceState): void {
  if (parts.state === next || parts.state === "stopped") return;
  parts.state = next;
  parts.options.onState();
}

function sinkOf<T extends KubeObject>(parts: Parts<T>): ReflectorSink<T> {
  const { store, overlay, feed, options, generation } = parts;
  const isCurrent = (): boolean => parts.generation === generation && parts.state !== "stopped";
  const apply = (change: Change<T> | undefined): void => {
    if (change === undefined) return;
    if (change.type === "delete") overlay.sawDeletion(change.key, change.object);
    else overlay.sawObject(change.key, change.object);
    options.onKey(change.key);
    feed.change(change);
  };
  /** The first list of a reflector replaces equal versions too: they may hold more fields than before. */
  let renew = true;

  return {
    async replace(objects, aside, version) {
      await feed.settled();
      if (!isCurrent()) return;
      for (const entry of aside.values()) options.onSetAside(entry, parts.aside.get(entry.key));
      parts.aside = aside;
      keepEarlier(store, objects, aside);
      const changes = store.replace(objects, renew);
      parts.listed = true;
      parts.position = version;
      overlay.sawList(version, (key) => objects.get(key));
      for (const { type, key } of changes) if (!renew || type === "delete") options.onKey(key);
      if (renew) for (const object of objects.values()) options.onKey(keyOf(object));
      renew = false;
      await feed.list(changes, () => objects.values(), objects.size);
    },
    upsert(object) {
      parts.aside.delete(keyOf(object));
      apply(store.upsert(object));
    },
    setAside(entry) {
      options.onSetAside(entry, parts.aside.get(entry.key));
      parts.aside.set(entry.key, entry);
    },
    remove(object) {
      const key = keyOf(object);
      const earlier = parts.aside.delete(key) ? store.objects.get(key) : undefined;
      apply(store.remove(earlier === undefined ? object : { ...earlier, metadata: object.metadata }));
    },
    position(version) {
      parts.position = version;
      overlay.sawPosition(version);
    },
    state(state) {
      if (isCurrent()) setState(parts, state);
    },
    error(error) {
      if (isCurrent()) options.onError(error);
    },
  };
}

function readKey<T extends KubeObject>({ store, overlay }: Parts<T>, key: ObjectKey): T | undefined {
  const laid = overlay.get(key);
  if (laid?.mode === "written") return laid.object;
  return laid?.mode === "deleted" ? undefined : store.objects.get(key);
}

function readAll<T extends KubeObject>(parts: Parts<T>, namespace: string | undefined): T[] {
  const { store, overlay } = parts;
  const base = store.objects.values(namespace);
  if (overlay.size === 0) return Array.from(base);
  const objects = Array.from(base).filter((object) => {
    const mode = overlay.get(keyOf(object))?.mode;
    return mode === undefined || mode === "live";
  });
  for (const key of overlay.keys()) {
    const laid = overlay.get(key);
    if (namespace !== undefined && key.namespace !== namespace) continue;
    if (laid?.mode === "written" && laid.object !== undefined) objects.push(laid.object);
  }
  return objects;
}
