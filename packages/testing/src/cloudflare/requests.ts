/** What was asked, for tests to read back. */

export interface CloudflareRequest {
  /** Milliseconds since the epoch, by the double's clock. */
  readonly time: number;
  readonly method: string;
  /** Below `/client/v4`, without query. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Decoded, or the text when it is no JSON. */
  readonly body: unknown;
  /** 0 as long as there is no answer. */
  status: number;
  /** The token or key that was sent, hidden but for telling two of them apart. */
  readonly credential: string;
}
