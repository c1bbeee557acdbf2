/** Many calls of which the first may tell that the others are in vain. */

/** Calls of the first batch; each further one has twice as many (Kubernetes' `SlowStartInitialBatchSize`). */
const FIRST_BATCH = 1;

/** How far a {@link slowStart} has come. */
export interface SlowStart {
  /** Calls that succeeded. */
  readonly done: number;
  /** Calls that were not made, since one before them failed. */
  readonly skipped: number;
  /** Why calls failed. */
  readonly errors: readonly unknown[];
}

/**
 * Makes a call for each index below `count`, in batches of 1, 2, 4, 8 …; a batch runs at once, and one with a failure is
 * the last. So a thousand creations that a quota refuses cost one request.
 */
export async function slowStart(
  count: number,
  call: (index: number) => Promise<unknown>,
): Promise<SlowStart> {
  let made = 0;
  for (let size = FIRST_BATCH; made < count; size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - made) }, (_, offset) => call(made + offset));
    const results = await Promise.allSettled(batch);
    made += batch.length;
    const errors = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    if (errors.length > 0) return { done: made - errors.length, skipped: count - made, errors };
  }
  return { done: made, skipped: 0, errors: [] };
}
