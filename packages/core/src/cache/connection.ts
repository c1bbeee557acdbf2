/** One open list or watch of a reflector: an iterator that can be ended from outside. */

/** Connection of a reflector; at most one is open at any time. */
export interface Connection<V> {
  /** Next value; `undefined` at the regular end. Rejects when the request failed or {@link Connection.close} ended it. */
  next(): Promise<V | undefined>;
  /** Ends the request and frees its socket. */
  close(): void;
}

/** Opens a request. `open` gets the signal that ends it. */
export function connect<V>(open: (signal: AbortSignal) => AsyncIterable<V>): Connection<V> {
  const controller = new AbortController();
  const iterator = open(controller.signal)[Symbol.asyncIterator]();
  return {
    async next() {
      const result = await iterator.next();
      return result.done ? undefined : result.value;
    },
    close() {
      controller.abort(new Error("the reflector closed the request"));
      // The generator may be suspended between two values and would never see the signal.
      iterator.return?.().catch(() => {});
    },
  };
}
