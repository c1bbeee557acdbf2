/** Bounds the memory that the bodies of running calls take, whoever sends them. */

/** Bytes that all bodies together may take beyond {@link FREE_BYTES} each: nine of the largest size. */
const TOTAL_BYTES = 64 * 1024 * 1024;
/** Bytes of each body that are not counted: nearly all reviews are smaller, and must not wait behind large ones. */
export const FREE_BYTES: number = 64 * 1024;

export interface BodyBudget {
  /** Resolves when there is room; rejects when the signal aborts before. */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  give(bytes: number): void;
}

export function createBodyBudget(total: number = TOTAL_BYTES): BodyBudget {
  let left = total;
  const waiting = new Set<{ bytes: number; go: () => void }>();
  const serve = (): void => {
    for (const entry of waiting) {
      if (entry.bytes > left) return;
      waiting.delete(entry);
      left -= entry.bytes;
      entry.go();
    }
  };
  return {
    take(bytes, signal) {
      if (waiting.size === 0 && bytes <= left) {
        left -= bytes;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const entry = { bytes, go: resolve };
        waiting.add(entry);
        const onAbort = (): void => {
          if (!waiting.delete(entry)) return;
          reject(signal.reason);
          serve();
        };
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
      });
    },
    give(bytes) {
      left += bytes;
      serve();
    },
  };
}
