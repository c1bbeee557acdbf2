/** State of an informer: made of the states of its namespaces; and waiting for it, with a time limit. */
import type { Clock } from "../../clock.ts";
import { CacheSyncError } from "../errors.ts";
import type { Informer, SourceState } from "../types.ts";

/**
 * State of several sources of one kind. A missing kind is missing everywhere; a forbidden namespace does not stop the
 * others.
 */
export function combineStates(states: readonly SourceState[]): SourceState {
  for (const state of ["waiting-for-kind", "starting", "synced", "forbidden"] as const) {
    if (states.includes(state)) return state;
  }
  return "stopped";
}

export interface StateTracker {
  readonly state: SourceState;
  /** Has been synced at some time: what is cached is worth reading. */
  readonly everSynced: boolean;
  update(state: SourceState): void;
  onState(fn: (state: SourceState) => void): () => void;
  /** Resolves in state `synced`; rejects when stopped, when the signal aborts, or with the start-up failure. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Everything cached so far is void. */
  restart(): void;
  /** From now on {@link StateTracker.synced} rejects with this error. The first one counts. */
  failStartup(error: unknown): void;
}

/** `what` names the informer in errors; `onListenerError` hears of listeners that throw. */
export function createStateTracker(options: {
  what: string;
  onListenerError: (error: unknown) => void;
}): StateTracker {
  const listeners = new Set<{ fn: (state: SourceState) => void }>();
  let state: SourceState = "starting";
  let everSynced = false;
  let failure: { error: unknown } | undefined;

  const onState = (fn: (state: SourceState) => void): (() => void) => {
    const listener = { fn };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const settle = (resolve: () => void, reject: (error: unknown) => void): boolean => {
    if (failure !== undefined) reject(failure.error);
    else if (state === "synced") resolve();
    else if (state === "stopped") reject(new Error(`${options.what}: the informer was stopped`));
    else return false;
    return true;
  };

  return {
    get state() {
      return state;
    },
    get everSynced() {
      return everSynced;
    },
    onState,
    update(next) {
      if (next === state) return;
      state = next;
      everSynced ||= next === "synced";
      for (const listener of [...listeners]) {
        try {
          listener.fn(next);
        } catch (error) {
          options.onListenerError(error);
        }
      }
    },
    synced: (signal) => waitUntil(settle, onState, signal),
    restart() {
      everSynced = false;
    },
    failStartup(error) {
      failure ??= { error };
    },
  };
}

/** Waits until `settle` returns true; asks it now and after each change of state. */
function waitUntil(
  settle: (resolve: () => void, reject: (error: unknown) => void) => boolean,
  onState: StateTracker["onState"],
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    if (settle(resolve, reject)) return;
    const finish = (): void => {
      stopListening();
      signal?.removeEventListener("abort", onAbort);
    };
    const onAbort = (): void => {
      finish();
      reject(signal?.reason);
    };
    const stopListening = onState(() => {
      if (settle(resolve, reject)) finish();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

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
