/** Waiting for what comes about in its own time. */
import { setTimeout as sleep } from "node:timers/promises";

/** Pauses between two looks in milliseconds: the first, how each grows, and the longest. */
const POLL_MS = 50;
const POLL_GROWTH = 1.1;
const POLL_LIMIT_MS = 250;
/** Longest wait in milliseconds for something that a busy machine delays. */
const PATIENCE_MS = 60_000;

/** Repeats a check until it passes, and hands on what it returns; after the limit its last failure is thrown. */
export async function eventually<T>(check: () => Promise<T> | T, withinMs: number = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (let pause = POLL_MS; ; pause = Math.min(pause * POLL_GROWTH, POLL_LIMIT_MS)) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(pause);
    }
  }
}
