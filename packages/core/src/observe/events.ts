/**
 * Records events without ever blocking or failing the caller. The first occurrence is created on the server, the
 * second turns it into a series, later ones are counted here and told now and then.
 */
import { microTime } from "../client/micro-time.ts";
import type { Clock } from "../clock.ts";
import { createEventLimiter } from "./event-limits.ts";
import { buildEvent, type KubeEvent, seriesKey } from "./event-object.ts";
import { createEventSender, type EventClient, type TrackedEvent } from "./event-sender.ts";
import type { EventRecorder, Logger } from "./types.ts";

/** Events remembered for their series. */
const MAX_KNOWN = 4_096;
/** Silence after which an event is over (client-go, `finishTime`). */
const FINISH_MS = 6 * 60_000;
/** A running series is told this often (client-go, `refreshTime`). */
const REFRESH_MS = 30 * 60_000;
/** Pause between two looks for finished events. */
const HOUSEKEEPING_MS = 30_000;

export interface EventSinkOptions {
  clock: Clock;
  log: Logger;
  /** Who reports: the pod's name. */
  instance: string;
  /** An event was dropped: too many of them, or of one object's, or refused. */
  onDropped?: () => void;
  /** Random number in [0, 1). Default `Math.random`. */
  random?: () => number;
}

/** All recorders of a process share one sink. */
export interface EventSink {
  /** Recorder whose events are reported by `quartet.io/<controller>`; each new one is a line of `log` as well. */
  recorder(controller: string, client: EventClient, log?: Logger): EventRecorder;
  /** Takes no more events and sends what it has, for at most `timeoutMs` milliseconds. */
  stop(timeoutMs: number): Promise<void>;
}

/** An event whose repeats are counted. */
interface Known extends TrackedEvent {
  readonly key: string;
  /** Monotonic time of the last occurrence. */
  lastSeen: number;
  /** Monotonic time at which the server last heard of it. */
  sentAt: number;
}

/** Opens a sink; stop it with {@link EventSink.stop}. */
export function createEventSink(options: EventSinkOptions): EventSink {
  const { clock, log, instance } = options;
  const allowed = createEventLimiter(clock);
  const known = new Map<string, Known>();
  let sequence = 0;
  let stopped = false;
  let cancelHousekeeping: (() => void) | undefined;

  const drop = (): void => options.onDropped?.();
  const sender = createEventSender({
    clock,
    log,
    random: options.random ?? Math.random,
    onSent(tracked) {
      (tracked as Known).sentAt = clock.monotonic();
      // An event that repeated while its object was being created is told at once, later repeats only now and then.
      if (tracked.sentCount === 1 && tracked.event.series !== undefined) sender.send(tracked);
    },
    onFailed(tracked) {
      known.delete((tracked as Known).key);
      drop();
    },
  });

  const repeat = (entry: Known): void => {
    const { event } = entry;
    const first = event.series === undefined;
    event.series = { count: countOf(event) + 1, lastObservedTime: microTime(clock.now()) };
    entry.lastSeen = clock.monotonic();
    if (first) sender.send(entry);
  };

  const begin = (event: KubeEvent, key: string, client: EventClient): boolean => {
    const now = clock.monotonic();
    const entry: Known = { key, event, client, sentCount: 0, lastSeen: now, sentAt: now };
    if (!allowed(objectKey(event)) || !sender.send(entry)) {
      drop();
      return false;
    }
    known.set(key, entry);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    cancelHousekeeping ??= clock.setTimer(HOUSEKEEPING_MS, keepHouse, { unref: true });
    return true;
  };

  const keepHouse = (): void => {
    cancelHousekeeping = undefined;
    const now = clock.monotonic();
    for (const entry of known.values()) {
      const over = now - entry.lastSeen >= FINISH_MS;
      if (isUntold(entry) && (over || now - entry.sentAt >= REFRESH_MS)) sender.send(entry);
      if (over) known.delete(entry.key);
    }
    if (known.size > 0) cancelHousekeeping = clock.setTimer(HOUSEKEEPING_MS, keepHouse, { unref: true });
  };

  return {
    recorder: (controller, client, recorderLog) => ({
      record(regarding, input, related) {
        if (stopped) {
          drop();
          return;
        }
        const now = clock.now();
        const event = buildEvent({
          controller,
          instance,
          regarding,
          related,
          input,
          now,
          sequence: sequence++,
        });
        const key = `${seriesKey(event)}${input.distinct ?? ""}`;
        const entry = known.get(key);
        if (entry !== undefined) repeat(entry);
        else if (begin(event, key, client)) recorderLog?.info("Event", lineOf(controller, event));
      },
    }),
    async stop(timeoutMs) {
      stopped = true;
      cancelHousekeeping?.();
      for (const entry of known.values()) if (isUntold(entry)) sender.send(entry);
      await sender.flush(timeoutMs);
    },
  };
}

/** What a log line says of an event. */
function lineOf(controller: string, { type, reason, note, regarding }: KubeEvent): Record<string, unknown> {
  const { kind, namespace, name } = regarding;
  return { controller, [kind]: { name, namespace }, namespace, name, type, reason, note };
}

const countOf = (event: KubeEvent): number => event.series?.count ?? 1;

const isUntold = (entry: Known): boolean => countOf(entry.event) > entry.sentCount;

function objectKey({ regarding, reportingController }: KubeEvent): string {
  const { apiVersion, kind, namespace, name, uid } = regarding;
  return [reportingController, apiVersion, kind, namespace, name, uid].join("\n");
}
