/** Objects by collection, one resource version for all of them, and the events of the recent past. */
import type { KubeObject } from "./object.ts";

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

export interface StoreEvent {
  type: EventType;
  /** Resource version of the write. */
  rv: number;
  collection: string;
  key: string;
  object: KubeObject;
  /** The object before the write; absent for ADDED. */
  previous?: KubeObject;
}

export type StoreListener = (event: StoreEvent) => void;

export interface Store {
  /** Resource version of the newest write. */
  current(): number;
  get(collection: string, key: string): KubeObject | undefined;
  /** Objects in the order of their keys, of one namespace when one is given. */
  list(collection: string, namespace?: string): KubeObject[];
  /** The collection as it was at a resource version, `undefined` when that is too old to tell. */
  listAt(collection: string, rv: number, namespace?: string): KubeObject[] | undefined;
  count(collection: string): number;
  /** Stores a fresh object and stamps it with the next resource version. */
  put(collection: string, key: string, object: KubeObject): KubeObject;
  /** Removes an object; `last` is its final state. */
  remove(collection: string, key: string, last: KubeObject): KubeObject;
  /** Events after a resource version, `undefined` when that is older than the window. */
  since(collection: string, rv: number): StoreEvent[] | undefined;
  /** Events of one collection from now on, or of all with `"*"`. */
  subscribe(collection: string, listener: StoreListener): () => void;
  /** Forgets all events: every older resource version has expired. */
  expire(): void;
  /** Drops a collection without events (its kind is gone). */
  drop(collection: string): void;
}

interface Collection {
  objects: Map<string, KubeObject>;
  /** Keys in order; absent after an insertion or a removal. */
  sorted?: string[] | undefined;
  history: StoreEvent[];
  /** The oldest resource version from which the history is complete. */
  floor: number;
  listeners: Set<StoreListener>;
}

/** Events kept per collection (CORE-467). */
export const WATCH_WINDOW = 1000;
/** The window is cut in steps, so that a cut costs nothing on average. */
const SLACK = 250;
/** Resource versions begin above zero: `0` means "any" in a request. */
const FIRST_RESOURCE_VERSION = 1;

function inNamespace(objects: KubeObject[], namespace: string | undefined): KubeObject[] {
  return namespace === undefined
    ? objects
    : objects.filter((object) => object.metadata.namespace === namespace);
}

function listOf(collection: Collection, namespace: string | undefined): KubeObject[] {
  collection.sorted ??= [...collection.objects.keys()].sort();
  const { sorted, objects } = collection;
  return inNamespace(
    sorted.map((key) => objects.get(key)!),
    namespace,
  );
}

function eventsSince(collection: Collection, rv: number): StoreEvent[] | undefined {
  if (rv < collection.floor) return undefined;
  return collection.history.filter((event) => event.rv > rv);
}

/** Takes the later events back, one by one. */
function listBefore(
  collection: Collection,
  later: StoreEvent[],
  namespace: string | undefined,
): KubeObject[] {
  const objects = new Map(collection.objects);
  for (const event of later.reverse()) {
    if (event.previous === undefined) objects.delete(event.key);
    else objects.set(event.key, event.previous);
  }
  const past = [...objects.keys()].sort().map((key) => objects.get(key)!);
  return inNamespace(past, namespace);
}

function remember(collection: Collection, event: StoreEvent, window: number): void {
  collection.history.push(event);
  if (collection.history.length <= window + SLACK) return;
  const forgotten = collection.history.splice(0, collection.history.length - window);
  collection.floor = forgotten.at(-1)!.rv;
}

export function createStore(window: number = WATCH_WINDOW): Store {
  const collections = new Map<string, Collection>();
  const everywhere = new Set<StoreListener>();
  let rv = FIRST_RESOURCE_VERSION;
  let floor = 0;

  const open = (name: string): Collection => {
    let found = collections.get(name);
    if (found === undefined) {
      found = { objects: new Map(), history: [], floor, listeners: new Set() };
      collections.set(name, found);
    }
    return found;
  };
  const tell = (collection: Collection, event: StoreEvent): void => {
    remember(collection, event, window);
    for (const listener of collection.listeners) listener(event);
    for (const listener of everywhere) listener(event);
  };

  return {
    current: () => rv,
    get: (name, key) => collections.get(name)?.objects.get(key),
    list: (name, namespace) => listOf(open(name), namespace),
    listAt(name, wanted, namespace) {
      if (wanted > rv) return undefined;
      const later = eventsSince(open(name), wanted);
      if (later === undefined) return undefined;
      return later.length === 0 ? listOf(open(name), namespace) : listBefore(open(name), later, namespace);
    },
    count: (name) => collections.get(name)?.objects.size ?? 0,
    put(name, key, object) {
      const collection = open(name);
      const previous = collection.objects.get(key);
      rv += 1;
      object.metadata.resourceVersion = String(rv);
      collection.objects.set(key, object);
      const common = { rv, collection: name, key, object };
      if (previous === undefined) {
        collection.sorted = undefined;
        tell(collection, { type: "ADDED", ...common });
      } else tell(collection, { type: "MODIFIED", ...common, previous });
      return object;
    },
    remove(name, key, last) {
      const collection = open(name);
      const previous = collection.objects.get(key) ?? last;
      rv += 1;
      const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(rv) } };
      collection.objects.delete(key);
      collection.sorted = undefined;
      tell(collection, { type: "DELETED", rv, collection: name, key, object, previous });
      return object;
    },
    since: (name, from) => eventsSince(open(name), from),
    subscribe(name, listener) {
      const listeners = name === "*" ? everywhere : open(name).listeners;
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    expire() {
      floor = rv;
      for (const collection of collections.values()) {
        collection.history = [];
        collection.floor = rv;
      }
    },
    drop(name) {
      const collection = collections.get(name);
      if (collection === undefined) return;
      collection.objects.clear();
      collection.sorted = undefined;
    },
  };
}
