/** Waiting for what comes about in its own time. */
import { setTimeout as sleep } from "node:timers/promises";

/** Pause between two looks in milliseconds. */
const POLL_MS = 50;
/** Longest wait in milliseconds for something that a busy machine delays. */
const PATIENCE_MS = 60_000;

/** Repeats a check until it passes, and hands on what it returns; after the limit its last failure is thrown. */
export async function eventually<T>(check: () => Promise<T> | T, withinMs: number = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}
