/** The work queue's contract. Implemented by `createQueue`. */

/** Priority of items from initial lists and resyncs (controller-runtime's LowPriority). */
export const LOW_PRIORITY: number = -100;
/** Priority of live changes. */
export const DEFAULT_PRIORITY: number = 0;

export interface AddOptions {
  /** Higher runs first. Default {@link DEFAULT_PRIORITY}. */
  priority?: number;
}

/** An item handed to a worker. `attempt` counts failures since the last `forget`, from 0. */
export interface QueueItem {
  readonly key: string;
  readonly priority: number;
  readonly attempt: number;
  /** Milliseconds (monotonic) at which it became ready. */
  readonly readySince: number;
}

export interface Queue {
  /** Makes the key ready now; a wait or backoff of the key ends (CORE-209). */
  add(key: string, options?: AddOptions): void;
  /** Makes the key ready after `ms` milliseconds; the earlier of two delays counts. */
  addAfter(key: string, ms: number, options?: AddOptions): void;
  /** Makes the key ready after its failure backoff (CORE-207). */
  addRateLimited(key: string, options?: AddOptions): void;
  /** Resets the failure count of the key. */
  forget(key: string): void;
  /** Next item, or `undefined` once the queue was shut down. The key is locked until `done`. */
  get(): Promise<QueueItem | undefined>;
  /** Unlocks the key; if it was added meanwhile it becomes ready once more. */
  done(key: string): void;
  /** Ready items. */
  readonly length: number;
  /** Ready, waiting and running keys, for `quartet explain`. */
  inspect(key: string): {
    state: "ready" | "waiting" | "running" | "absent";
    attempt: number;
    dueInMs?: number;
  };
  shutDown(): void;
}
