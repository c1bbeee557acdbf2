/** Waits of a reflector that can be cut short. */
import type { Clock } from "../clock.ts";

export function interruptible(clock: Clock): {
  sleep(ms: number): Promise<{ type: "woke" }>;
  /** The promise's value, or nothing of interest after a stop. */
  orStop<V>(promise: Promise<V>): Promise<V | { type: "woke" }>;
  wake(): void;
  stop(): void;
} {
  let wake: (() => void) | undefined;
  let onStop: (() => void) | undefined;
  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        const cancel = clock.setTimer(ms, () => wake?.());
        wake = () => {
          cancel();
          wake = undefined;
          resolve({ type: "woke" });
        };
      }),
    orStop: (promise) =>
      Promise.race([
        promise,
        new Promise<{ type: "woke" }>((resolve) => {
          onStop = () => resolve({ type: "woke" });
        }),
      ]),
    wake: () => wake?.(),
    stop() {
      wake?.();
      onStop?.();
    },
  };
}
