/** Sends events with few requests at once, few waiting, and patient repeats. */
import {
  ApiError,
  ConnectionError,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
} from "../client/errors.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { keyOf } from "../object.ts";
import { EVENT_KIND, type KubeEvent } from "./event-object.ts";
import type { Logger } from "./types.ts";

/** Events that wait to be sent at once (client-go's broadcaster holds as many). */
const MAX_PENDING = 1_000;
/** Requests at once. */
const PARALLEL = 4;
/** Tries of one request, and the wait between two: 10 s ± 25 % (client-go: 12 tries, 10 s). */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;
const RETRY_JITTER = 0.25;

/** The verbs that events are sent with. */
export type EventClient = Pick<Client, "create" | "patch">;

/** An event and what the server knows of it. */
export interface TrackedEvent {
  readonly event: KubeEvent;
  readonly client: EventClient;
  /** Series count that the server knows; 0 before the event was created. */
  sentCount: number;
}

export interface EventSenderOptions {
  clock: Clock;
  log: Logger;
  /** Random number in [0, 1). */
  random: () => number;
  onSent(event: TrackedEvent): void;
  /** The event was refused, or could not be sent in all its tries. */
  onFailed(event: TrackedEvent): void;
}

export interface EventSender {
  /** Sends what the server does not know of the event; false when too many wait already. */
  send(event: TrackedEvent): boolean;
  /** Sends what waits, without pauses between tries, for at most `timeoutMs` milliseconds. */
  flush(timeoutMs: number): Promise<void>;
}

type Outcome = "sent" | "retry" | "failed";

/** Opens a sender. */
export function createEventSender(options: EventSenderOptions): EventSender {
  const { clock, log, random } = options;
  /** Everything queued, being sent or waiting for a retry, with its number of tries. */
  const pending = new Map<TrackedEvent, number>();
  const retries = new Map<TrackedEvent, () => void>();
  const queue: TrackedEvent[] = [];
  let active = 0;
  let flushing = false;
  let onIdle = (): void => {};

  const pump = (): void => {
    while (active < PARALLEL) {
      const next = queue.shift();
      if (next === undefined) break;
      active++;
      void attempt(next).then((outcome) => {
        active--;
        settle(next, outcome);
        pump();
      });
    }
  };

  const attempt = async (tracked: TrackedEvent): Promise<Outcome> => {
    const tries = (pending.get(tracked) ?? 0) + 1;
    pending.set(tracked, tries);
    return sendOnce(tracked, tries < MAX_TRIES && !flushing, log);
  };

  const settle = (tracked: TrackedEvent, outcome: Outcome): void => {
    if (outcome === "retry") {
      const wait = RETRY_MS * (1 + RETRY_JITTER * (2 * random() - 1));
      retries.set(
        tracked,
        clock.setTimer(wait, () => retry(tracked), { unref: true }),
      );
      return;
    }
    pending.delete(tracked);
    if (outcome === "sent") options.onSent(tracked);
    else options.onFailed(tracked);
    if (pending.size === 0) onIdle();
  };

  const retry = (tracked: TrackedEvent): void => {
    retries.delete(tracked);
    queue.push(tracked);
    pump();
  };

  return {
    send(tracked) {
      if (pending.has(tracked)) return true;
      if (pending.size >= MAX_PENDING) return false;
      pending.set(tracked, 0);
      queue.push(tracked);
      pump();
      return true;
    },
    async flush(timeoutMs) {
      flushing = true;
      for (const [tracked, cancel] of retries) {
        cancel();
        retry(tracked);
      }
      if (pending.size === 0) return;
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(timeoutMs, resolve);
        onIdle = () => {
          cancel();
          resolve();
        };
      });
    },
  };
}

/** One try; a failure is told unless it is to be repeated. */
async function sendOnce(tracked: TrackedEvent, mayRepeat: boolean, log: Logger): Promise<Outcome> {
  try {
    tracked.sentCount = await sendUnknown(tracked);
    return "sent";
  } catch (error) {
    if (mayRepeat && mayWorkLater(error)) return "retry";
    const { reason, regarding } = tracked.event;
    const isNamespaceGone = isNamespaceTerminating(error) || isNotFound(error);
    const level = isNamespaceGone || !(error instanceof ApiError) ? "debug" : "warn";
    log[level]("Event not sent", { reason, regarding, error });
    return "failed";
  }
}

/** Sends what the server does not know of an event; returns the series count that it knows now. */
async function sendUnknown({ client, event, sentCount }: TrackedEvent): Promise<number> {
  const { series, ...single } = event;
  if (sentCount === 0) {
    await create(client, single);
    return 1;
  }
  if (series === undefined) return 1;
  const told = { ...series };
  try {
    await client.patch(EVENT_KIND, keyOf(event), { type: "merge", body: { series: told } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // It expired on the server meanwhile.
    await create(client, { ...single, series: told });
  }
  return told.count;
}

async function create(client: EventClient, event: KubeEvent): Promise<void> {
  try {
    await client.create(EVENT_KIND, event);
  } catch (error) {
    // An earlier try arrived although its answer was lost.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** True for failures of the way or of the server, false for a refusal of this event. */
function mayWorkLater(error: unknown): boolean {
  if (error instanceof ApiError) return error.code >= 500 || error.code === 429;
  return error instanceof ConnectionError;
}
