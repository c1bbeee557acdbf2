/** Sources beside informers: events from outside, and the clock. */
import { type Clock, sleep } from "../clock.ts";
import type { ObjectKey } from "../object.ts";
import type { RawSource } from "./types.ts";

/** A source fed by hand; keys sent before the controller starts are kept until it does. */
export interface Channel extends RawSource {
  send(key: ObjectKey, options?: { priority?: number; afterMs?: number }): void;
}

/** Source of external events, such as a callback of a client of another API. */
export function channel(name: string): Channel {
  let deliver: Parameters<RawSource["start"]>[0] | undefined;
  const early: Parameters<Channel["send"]>[] = [];
  return {
    name,
    send(key, options) {
      if (deliver === undefined) early.push([key, options]);
      else deliver(key, options);
    },
    start(enqueue) {
      deliver = enqueue;
      for (const [key, options] of early.splice(0)) enqueue(key, options);
    },
  };
}

/** Source that queues the keys of `keys()` every `everyMs` milliseconds, the first time after one interval. */
export function interval(
  name: string,
  everyMs: number,
  keys: () => readonly ObjectKey[] | Promise<readonly ObjectKey[]>,
  clock: Clock,
): RawSource {
  return {
    name,
    async start(enqueue, signal) {
      while (!signal.aborted) {
        await sleep(clock, everyMs, signal).catch(() => {});
        if (signal.aborted) return;
        for (const key of await keys()) enqueue(key);
      }
    },
  };
}
