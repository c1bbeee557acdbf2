/** Faults that a test puts in the way of calls. */

/** Which calls are hit, and what becomes of them. The first fault that fits counts. */
export interface CloudflareFault {
  /** Searched in path and query below `/client/v4`. */
  readonly path: RegExp;
  /** Whole method. Default: every one. */
  readonly method?: RegExp;
  /** Searched in the text of the body. */
  readonly body?: RegExp;
  /** How many calls are hit. Default: all, until the fault is taken away. */
  readonly times?: number;
  /** Chance of each call to be hit, 0 to 1. Default 1. */
  readonly probability?: number;
  /** Status to answer with instead of doing anything; without it the call is done. */
  readonly status?: number;
  /** Code and message of the error in the envelope. */
  readonly code?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body to answer with instead of an envelope. */
  readonly raw?: string;
  /** Pause before the answer, after the call was done. */
  readonly delayMs?: number;
  /** The call is never answered. With `afterwards` it is done nevertheless. */
  readonly hang?: boolean;
  /** The connection is cut instead of an answer. With `afterwards` the call is done nevertheless. */
  readonly cut?: boolean;
  readonly afterwards?: boolean;
}

export interface Faults {
  add(fault: CloudflareFault): void;
  clear(): void;
  /** The fault that hits a call, counted as used. */
  take(method: string, pathAndQuery: string, body: string): CloudflareFault | undefined;
}

export function createFaults(random: () => number): Faults {
  let active: { fault: CloudflareFault; left: number }[] = [];
  return {
    add: (fault) => void active.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }),
    clear: () => {
      active = [];
    },
    take(method, pathAndQuery, body) {
      const hit = active.find(
        ({ fault, left }) =>
          left > 0 &&
          fault.path.test(pathAndQuery) &&
          (fault.method === undefined || new RegExp(`^(?:${fault.method.source})$`).test(method)) &&
          (fault.body === undefined || fault.body.test(body)) &&
          (fault.probability === undefined || random() < fault.probability),
      );
      if (hit === undefined) return undefined;
      hit.left -= 1;
      return hit.fault;
    },
  };
}
