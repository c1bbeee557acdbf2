/** Waiting for an informer with a time limit. */
import type { Clock } from "../clock.ts";
import { CacheSyncError } from "./errors.ts";
import type { Informer } from "./types.ts";

/** controller-runtime's `CacheSyncTimeout`; flag `--cache-sync-timeout`. CORE-184. */
export const DEFAULT_SYNC_TIMEOUT_MS: number = 120_000;

export interface SyncOptions {
  clock: Clock;
  /** Default {@link DEFAULT_SYNC_TIMEOUT_MS}. */
  timeoutMs?: number | undefined;
  /** Named in the error. */
  controller?: string;
  signal?: AbortSignal | undefined;
  /** Give up at once when the kind or the right is missing. Default false: it may come within the limit. */
  impatient?: boolean;
}

/**
 * Resolves when the informer is synced. Rejects with {@link CacheSyncError} after the time limit, with the signal's
 * reason, or with the error of an index function.
 */
export async function waitForSync(informer: Informer, options: SyncOptions): Promise<void> {
  const { clock, timeoutMs = DEFAULT_SYNC_TIMEOUT_MS, controller, signal, impatient = false } = options;
  const limit = new AbortController();
  const giveUp = (waitedMs: number): void => {
    const { kind, state, lastError: cause } = informer;
    limit.abort(
      new CacheSyncError({ kind, state, waitedMs, cause, ...(controller !== undefined && { controller }) }),
    );
  };
  const checkState = (): void => {
    if (impatient && (informer.state === "waiting-for-kind" || informer.state === "forbidden")) giveUp(0);
  };
  const onAbort = (): void => limit.abort(signal?.reason);

  const cancelTimer = clock.setTimer(timeoutMs, () => giveUp(timeoutMs), { unref: true });
  const stopListening = informer.onState(checkState);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  checkState();
  try {
    await informer.synced(limit.signal);
  } finally {
    cancelTimer();
    stopListening();
    signal?.removeEventListener("abort", onAbort);
  }
}
