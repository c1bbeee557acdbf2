/** Many calls of which the first may tell that the others are in vain. */

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
 * Makes a call for each index below `count`: one at first, and two more for each that succeeds (the bound of Kubernetes'
 * batches of 1, 2, 4, 8 …, without their waits for the slowest); after a failure none is begun. So a thousand creations
 * that a quota refuses cost one request.
 */
export function slowStart(count: number, call: (index: number) => Promise<unknown>): Promise<SlowStart> {
  const errors: unknown[] = [];
  let made = 0;
  let done = 0;
  let open = 0;
  return new Promise((resolve) => {
    const make = async (index: number): Promise<void> => {
      try {
        await call(index);
        done += 1;
      } catch (error) {
        errors.push(error);
      }
      open -= 1;
      proceed();
    };
    const proceed = (): void => {
      while (made < Math.min(count, 2 * done + 1) && errors.length === 0) {
        open += 1;
        void make(made++);
      }
      if (open === 0) resolve({ done, skipped: count - made, errors });
    };
    proceed();
  });
}
