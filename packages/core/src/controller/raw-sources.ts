/** Runs sources that are no informers, and starts those again that fail. */
import { type Clock, sleep } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import type { RawSource } from "./types.ts";

/** Pauses before a source that failed starts again: 1 s, doubled with each failure in a row, at most 1 min. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A source that ran for so long counts as sound: its next failure is the first one again. */
const SOUND_AFTER_MS = 60_000;

export interface RawSourceOptions {
  enqueue: Parameters<RawSource["start"]>[0];
  signal: AbortSignal;
  clock: Clock;
  log: Logger;
}

/** Starts a source; it runs until it returns or the signal aborts. */
export async function runRawSource(source: RawSource, options: RawSourceOptions): Promise<void> {
  const { enqueue, signal, clock, log } = options;
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const began = clock.monotonic();
    try {
      await source.start(enqueue, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (clock.monotonic() - began >= SOUND_AFTER_MS) pause = FIRST_PAUSE_MS;
      log.error("source failed, it starts again", { source: source.name, error, pauseMs: pause });
      await sleep(clock, pause, signal).catch(() => {});
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    }
  }
}
