/** The order in which a manager stops, and how long that may take. */
import { type Clock, LATE, withLimit } from "../clock.ts";
import type { Logger } from "../observe/types.ts";

/** Share of the whole limit that running reconciles get before their signals abort: 20 of 30 s (CORE-262). */
const DRAIN_SHARE = 2 / 3;
/** Time for the other steps when nothing shall be waited for. */
const NO_WAIT_MS = 1_000;
/** Time for events that wait to be sent (CORE-262). */
const EVENT_FLUSH_MS = 2_000;

/** What stops, in the order of the fields. */
export interface ShutdownSteps {
  /** Readiness turns; called first of all. */
  begin(): void;
  /** Ends leader work and work of every replica; gives the keys that would not end. */
  stopWork(drainMs: number): Promise<readonly string[]>;
  flushEvents(timeoutMs: number): Promise<void>;
  /** `ended` is false when leader work may still be running: the Lease must then be kept. */
  releaseLease(ended: boolean): Promise<void>;
  /** Absent when no webhooks are served. */
  stopWebhooks?: () => Promise<void>;
  stopCaches(): Promise<void>;
  stopServers(): Promise<void>;
}

export interface ShutdownOptions {
  clock: Clock;
  log: Logger;
  /** Limit of everything: 0 waits for no reconcile, less than 0 sets no limit. */
  timeoutMs: number;
  /** Webhooks are served for so long after the beginning. */
  webhookDelayMs: number;
}

export interface ShutdownOutcome {
  /** Everything ended within the limit. */
  readonly inTime: boolean;
  /** `controller: namespace/name` of reconciles that had not ended. */
  readonly stuck: readonly string[];
}

/** Stops in order. A step that fails or takes too long is logged, and the next one follows. */
export async function shutDown(steps: ShutdownSteps, options: ShutdownOptions): Promise<ShutdownOutcome> {
  const { clock, log, timeoutMs } = options;
  const begun = clock.monotonic();
  const limitMs = timeoutMs < 0 ? Number.POSITIVE_INFINITY : timeoutMs === 0 ? NO_WAIT_MS : timeoutMs;
  const drainMs = timeoutMs < 0 ? Number.POSITIVE_INFINITY : timeoutMs * DRAIN_SHARE;
  const late: string[] = [];

  /** Runs a step within what is left of the limit. */
  const step = async <T>(name: string, run: () => Promise<T>): Promise<T | undefined> => {
    const leftMs = Math.max(0, limitMs - (clock.monotonic() - begun));
    try {
      const result = await withLimit(clock, leftMs, run());
      if (result !== LATE) return result;
      late.push(name);
      log.error("Step of the shutdown took too long", { step: name });
    } catch (error) {
      log.error("Step of the shutdown failed", { step: name, error });
    }
    return undefined;
  };

  steps.begin();
  const stuck = await step("work", () => steps.stopWork(drainMs));
  await step("events", () => steps.flushEvents(EVENT_FLUSH_MS));
  await step("lease", () => steps.releaseLease(stuck !== undefined && stuck.length === 0));
  const { stopWebhooks } = steps;
  if (stopWebhooks !== undefined) {
    const delayMs = timeoutMs === 0 ? 0 : options.webhookDelayMs - (clock.monotonic() - begun);
    await step("webhooks", async () => {
      if (delayMs > 0) await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve));
      await stopWebhooks();
    });
  }
  // Handlers of webhooks read the caches.
  await step("caches", steps.stopCaches);
  await step("servers", steps.stopServers);
  return { inTime: late.length === 0 && (stuck?.length ?? 0) === 0, stuck: stuck ?? [] };
}
