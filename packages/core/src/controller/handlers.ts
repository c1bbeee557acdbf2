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
const MAP_BACKOFF_MAX_MS = 1000;

export interface HandlerOptions<T extends KubeObject> {
  map: MapFn<T>;
  predicates: readonly Predicate<T>[];
  enqueue: Enqueue;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

/** Handler that queues the keys of old and new object, each once. Initial and resync events come at low priority. */
export function queueingHandler<T extends KubeObject>(options: HandlerOptions<T>): CacheHandler<T> {
  const { map, predicates, enqueue } = options;
  return (event) => {
    if (!predicates.every((predicate) => predicate(event))) return;
    const priority = priorityOf(event);
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
        if (keys instanceof Promise) keys.then(add, (error) => retry(options, object, add, error));
        else add(keys);
      } catch (error) {
        retry(options, object, add, error);
      }
    }
  };
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
      await sleep(clock, Math.min(MAP_BACKOFF_MAX_MS, MAP_BACKOFF_MS * 4 ** n), signal);
      try {
        add(await map(object));
        return;
      } catch (again) {
        error = again;
      }
    }
    log.error("map function failed, event lost", {
      object: keyToString(keyOf(object)),
      kind: object.kind,
      error,
    });
  };
  // Rejects only when the controller stops while it waits.
  attempt().catch(() => {});
}

function priorityOf(event: CacheEvent): number {
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
