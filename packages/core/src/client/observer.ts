/** What the client tells about its own work, so that metrics can be kept without the client knowing of them. */

/** One HTTP exchange, repeats counted singly. A watch is reported when its answer begins. */
export interface RequestReport {
  /** Kubernetes verb: get, list, watch, create, update, patch, apply, delete, deletecollection. */
  verb: string;
  /** HTTP method; client-go's metrics carry it in their label `verb` too. */
  method: string;
  /** Host and port of the server. */
  host: string;
  /** Status code, or `<error>` when there was no answer. */
  code: string;
  seconds: number;
  requestBytes: number;
  /** Bytes of the body; 0 for a watch. */
  responseBytes: number;
}

/** Receives reports of the client; every method is called synchronously and must be cheap. */
export interface ClientObserver {
  onRequest?(report: RequestReport): void;
  /** A request is about to be repeated; `code` is the status code or `<error>`. */
  onRetry?(report: { verb: string; method: string; host: string; code: string }): void;
  /** Time that a request waited for the client's own rate limit. */
  onRateLimited?(report: { verb: string; method: string; host: string; seconds: number }): void;
  /** The server sent a warning. */
  onWarning?(text: string): void;
}
