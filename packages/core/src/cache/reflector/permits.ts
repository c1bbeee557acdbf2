/** A limit on how many of something are under way at a time. */

export interface Permits {
  /**
   * Waits for a permit, first come, first served; the function gives it back. Rejects with the signal's reason when that
   * aborts first.
   */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createPermits(count: number): Permits {
  const waiting = new Set<() => void>();
  let free = count;

  const grant = (): (() => void) => {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      free++;
      const [next] = waiting;
      next?.();
    };
  };
  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        const begin = (): void => {
          waiting.delete(begin);
          signal.removeEventListener("abort", onAbort);
          free--;
          resolve(grant());
        };
        const onAbort = (): void => {
          waiting.delete(begin);
          reject(signal.reason);
        };
        if (signal.aborted) return reject(signal.reason);
        if (free > 0 && waiting.size === 0) return begin();
        waiting.add(begin);
        signal.addEventListener("abort", onAbort, { once: true });
      }),
  };
}
