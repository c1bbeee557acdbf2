/** Turns the changes of a store into events for the handlers of an informer, and delivers them. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../clock.ts";
import type { KubeObject } from "../../object.ts";
import type { Change } from "../store/store.ts";
import type { CacheEvent, CacheHandler } from "../types.ts";

export interface Feed<T extends KubeObject> {
  /** Events that are due and not delivered yet. */
  readonly queued: number;
  /** Resolves when everything due so far is delivered. */
  settled(): Promise<void>;
  /** A change that the watch brought; delivered at once. */
  change(change: Change<T>): void;
  /** A list was taken over: its changes for those who knew the state before, all of it for those who waited. */
  list(changes: readonly Change<T>[], objects: () => Iterable<T>, size: number): Promise<void>;
  /** Each object again. */
  resync(objects: () => Iterable<T>, size: number): Promise<void>;
  /** A new handler gets all objects at once, or, without them, those of the next list. */
  join(registration: Registration<T>, objects?: Iterable<T>): void;
}

/** Feed of one shard to the handlers that `handlers` returns at the time. */
export function createFeed<T extends KubeObject>(options: {
  clock: Clock;
  handlers: () => readonly Registration<T>[];
  deliver: Deliver<T>;
}): Feed<T> {
  const { clock, handlers, deliver } = options;
  /** Handlers that wait for the next list. */
  let waiting = new Set<Registration<T>>();
  let queued = 0;
  let delivery: Promise<void> = Promise.resolve();

  const informed = (): Registration<T>[] => handlers().filter((registration) => !waiting.has(registration));
  const inTurn = (jobs: Iterable<() => void>, size: number): Promise<void> => {
    queued += size;
    const run = async (): Promise<void> => {
      await inSlices(clock, jobs);
      queued -= size;
    };
    delivery = delivery.then(run);
    return delivery;
  };
  const events = function* (
    of: Iterable<CacheEvent<T>>,
    to: readonly Registration<T>[],
  ): Iterable<() => void> {
    for (const event of of) for (const registration of to) yield () => deliver(registration, event);
  };

  return {
    get queued() {
      return queued;
    },
    settled: () => delivery,
    change(change) {
      const event = eventOf(change);
      for (const registration of handlers()) if (!waiting.has(registration)) deliver(registration, event);
    },
    async list(changes, objects, size) {
      const before = informed();
      const newcomers = [...waiting];
      waiting = new Set();
      if (before.length > 0) {
        await inTurn(events(mapLazily(changes, eventOf), before), changes.length * before.length);
      }
      if (newcomers.length > 0) {
        await inTurn(events(mapLazily(objects(), initialAdd), newcomers), size * newcomers.length);
      }
    },
    resync(objects, size) {
      const to = informed();
      return to.length === 0
        ? delivery
        : inTurn(events(mapLazily(objects(), sameAgain), to), size * to.length);
    },
    join(registration, objects) {
      if (objects === undefined) waiting.add(registration);
      else for (const object of objects) deliver(registration, initialAdd(object));
    },
  };
}

function* mapLazily<A, B>(values: Iterable<A>, fn: (value: A) => B): Iterable<B> {
  for (const value of values) yield fn(value);
}

/** Internally objects are writable; handlers see them read-only. */
function eventOf<T extends KubeObject>(change: Change<T>): CacheEvent<T> {
  const { key: _, ...event } = change;
  return (
    event.type === "add"
      ? { ...event, initial: false }
      : event.type === "update"
        ? { ...event, resync: false }
        : event
  ) as CacheEvent<T>;
}

function initialAdd<T extends KubeObject>(object: T): CacheEvent<T> {
  return { type: "add", object, initial: true } as CacheEvent<T>;
}

function sameAgain<T extends KubeObject>(object: T): CacheEvent<T> {
  return { type: "update", object, old: object, resync: true } as CacheEvent<T>;
}

/** Longest stretch of handlers without a break; the queue's workers keep to the same. CORE-211. */
const SLICE_MS = 10;

/** A handler that was added and may have been removed since. */
export interface Registration<T extends KubeObject> {
  readonly handler: CacheHandler<T>;
  active: boolean;
}

export type Deliver<T extends KubeObject> = (to: Registration<T>, event: CacheEvent<T>) => void;

/** Calls handlers one by one. One that throws, or whose promise rejects, is reported and harms nobody else. */
export function createDeliver<T extends KubeObject>(
  onError: (error: unknown, event: CacheEvent<T>) => void,
): Deliver<T> {
  return (to, event) => {
    if (!to.active) return;
    try {
      const result: unknown = to.handler(event);
      if (result instanceof Promise) result.catch((error: unknown) => onError(error, event));
    } catch (error) {
      onError(error, event);
    }
  };
}

/** Runs jobs in order, with a break for the event loop after each 10 ms of them. */
export async function inSlices(clock: Clock, jobs: Iterable<() => void>): Promise<void> {
  let sliceEnd = clock.monotonic() + SLICE_MS;
  for (const job of jobs) {
    job();
    if (clock.monotonic() < sliceEnd) continue;
    await setImmediate();
    sliceEnd = clock.monotonic() + SLICE_MS;
  }
}
