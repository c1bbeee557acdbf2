/** Sources beside informers: events from outside, and the clock. */
import { type Clock, sleep } from "../clock.ts";
import { keyToString, type ObjectKey } from "../object.ts";
import { DEFAULT_PRIORITY } from "../queue/types.ts";
import { nextTime, parseSchedule } from "./schedule.ts";
import type { RawSource } from "./types.ts";

interface SendOptions {
  priority?: number;
  afterMs?: number;
}

/** A source fed by hand; keys sent before the controller starts are kept until it does, each once. */
export interface Channel extends RawSource {
  send(key: ObjectKey, options?: SendOptions): void;
}

/** Source of external events, such as the callback of another API's client, or a webhook that is pushed to. */
export function channel(name: string): Channel {
  let deliver: Parameters<RawSource["start"]>[0] | undefined;
  const early = new Map<string, { key: ObjectKey; options: SendOptions }>();
  return {
    name,
    send(key, options = {}) {
      const text = keyToString(key);
      if (deliver !== undefined) deliver(key, options);
      else early.set(text, { key, options: joined(early.get(text)?.options, options) });
    },
    start(enqueue, signal) {
      deliver = enqueue;
      for (const { key, options } of early.values()) enqueue(key, options);
      early.clear();
      signal.addEventListener("abort", () => {
        deliver = () => {};
      });
    },
  };
}

/** Of two sends of a key, the higher priority and the shorter delay count. */
function joined(a: SendOptions | undefined, b: SendOptions): SendOptions {
  if (a === undefined) return b;
  const priority = Math.max(a.priority ?? DEFAULT_PRIORITY, b.priority ?? DEFAULT_PRIORITY);
  return { priority, afterMs: Math.min(a.afterMs ?? 0, b.afterMs ?? 0) };
}

type Keys = () => readonly ObjectKey[] | Promise<readonly ObjectKey[]>;

/** Source that queues the keys of `keys()` every `everyMs` milliseconds, the first time after one interval. */
export function interval(name: string, everyMs: number, keys: Keys, clock: Clock): RawSource {
  return timed(name, () => everyMs, keys, clock);
}

/**
 * Source that queues the keys of `keys()` by a schedule of cron, in UTC: minute, hour, day of month, month, day of
 * week, for example `"30 3 * * 1-5"`. Throws `TypeError` for a schedule that it cannot read.
 */
export function cron(name: string, schedule: string, keys: Keys, clock: Clock): RawSource {
  const fields = parseSchedule(schedule);
  let last = 0;
  const waitMs = (): number => {
    // A timer that is a little early must not see the same minute again.
    last = nextTime(fields, Math.max(last, clock.now()));
    return Math.max(0, last - clock.now());
  };
  return timed(name, waitMs, keys, clock);
}

function timed(name: string, waitMs: () => number, keys: Keys, clock: Clock): RawSource {
  return {
    name,
    async start(enqueue, signal) {
      for (;;) {
        await sleep(clock, waitMs(), signal).catch(() => {});
        if (signal.aborted) return;
        for (const key of await keys()) enqueue(key);
      }
    },
  };
}
