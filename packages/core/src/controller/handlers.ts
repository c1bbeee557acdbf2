/** From cache events to keys in the queue. */
import type { CacheEvent, CacheHandler } from "../cache/types.ts";
import { type Clock, sleep } from "../clock.ts";
import {
  type DeepReadonly,
  groupOf,
  type Kind,
  type KubeObject,
  keyOf,
  keyToString,
  type ObjectKey,
} from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { DEFAULT_PRIORITY, LOW_PRIORITY } from "../queue/types.ts";
import type { MapFn, Predicate } from "./types.ts";

export type Enqueue = (key: ObjectKey, priority: number) => void;

/** A map function that threw is tried again this often, then the event is logged as lost (CORE-222). */
const MAP_RETRIES = 5;
const MAP_BACKOFF_MS = 10;
const MAP_BACKOFF_FACTOR = 4;
const MAP_BACKOFF_MAX_MS = 1000;

export interface HandlerOptions<T extends KubeObject> {
  map: (object: DeepReadonly<T>) => ReturnType<MapFn<T>>;
  /** All must pass. */
  predicates: readonly Predicate<T>[];
  /** Sees every event first. */
  onEvent: ((event: CacheEvent<T>) => void) | undefined;
  priority: (event: CacheEvent<T>) => number;
  enqueue: Enqueue;
  clock: Clock;
  log: Logger;
  /** Told of an event whose map function failed to the end. */
  onLost: () => void;
  signal: AbortSignal;
}

/** Handler that queues the keys of old and new object, each once. */
export function queueingHandler<T extends KubeObject>(options: HandlerOptions<T>): CacheHandler<T> {
  const { map, enqueue } = options;
  return (event) => {
    see(options, event);
    if (!passes(options, event)) return;
    const priority = options.priority(event);
    const objects = event.type === "update" ? [event.old, event.object] : [event.object];
    const seen = new Set<string>();
    const add = (keys: readonly ObjectKey[]): void => {
      for (const key of keys) {
        const text = keyToString(key);
        if (seen.has(text)) continue;
        seen.add(text);
        enqueue(key, priority);
      }
    };
    for (const object of objects) {
      try {
        const keys = map(object);
        if (keys instanceof Promise) keys.then(add).catch((error) => retry(options, object, add, error));
        else add(keys);
      } catch (error) {
        retry(options, object, add, error);
      }
    }
  };
}

function see<T extends KubeObject>({ onEvent, log }: HandlerOptions<T>, event: CacheEvent<T>): void {
  try {
    onEvent?.(event);
  } catch (error) {
    log.error("event handler failed", { ...fieldsOf(event.object), event: event.type, error });
  }
}

/** A predicate that throws counts as passed: one reconcile too many does no harm, one too few may. */
function passes<T extends KubeObject>({ predicates, log }: HandlerOptions<T>, event: CacheEvent<T>): boolean {
  return predicates.every((predicate) => {
    try {
      return predicate(event);
    } catch (error) {
      log.error("predicate failed, event passed", { ...fieldsOf(event.object), error });
      return true;
    }
  });
}

function retry<T extends KubeObject>(
  options: HandlerOptions<T>,
  object: DeepReadonly<T>,
  add: (keys: readonly ObjectKey[]) => void,
  first: unknown,
): void {
  const { map, clock, log, signal } = options;
  const attempt = async (): Promise<void> => {
    let error = first;
    for (let n = 0; n < MAP_RETRIES; n += 1) {
      await sleep(clock, Math.min(MAP_BACKOFF_MAX_MS, MAP_BACKOFF_MS * MAP_BACKOFF_FACTOR ** n), signal);
      try {
        add(await map(object));
        return;
      } catch (again) {
        error = again;
      }
    }
    log.error("map function failed, event lost", { ...fieldsOf(object), error });
    options.onLost();
  };
  // Rejects only when the controller stops while it waits.
  attempt().catch(() => {});
}

function fieldsOf(object: DeepReadonly<KubeObject>): Record<string, unknown> {
  return { object: keyToString(keyOf(object)), kind: object.kind, apiVersion: object.apiVersion };
}

/** Initial lists and resyncs come after live changes. */
export function usualPriority(event: CacheEvent): number {
  if (event.type === "add" && event.initial) return LOW_PRIORITY;
  if (event.type === "update" && event.resync) return LOW_PRIORITY;
  return DEFAULT_PRIORITY;
}

/** Maps an object to itself. */
export const toSelf: MapFn = (object) => [keyOf(object)];

/**
 * Maps an object to its owner of a group and kind, whatever version the reference names (CORE-221).
 * @param every also owners that do not control the object
 */
export function toOwner(owner: Kind, every = false): MapFn {
  return (object) =>
    (object.metadata.ownerReferences ?? [])
      .filter((reference) => every || reference.controller === true)
      .filter((reference) => reference.kind === owner.kind && groupOf(reference.apiVersion) === owner.group)
      .map(({ name }) => ({ namespace: owner.namespaced ? (object.metadata.namespace ?? "") : "", name }));
}
