/** Passing events on to handlers. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { KubeObject } from "../object.ts";
import type { CacheEvent, CacheHandler } from "./types.ts";

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
