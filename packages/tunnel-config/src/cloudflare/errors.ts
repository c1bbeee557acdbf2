/** What goes wrong with a call of the Cloudflare API, told apart by status and code, never by words (TUN-1001). */

export type ApiErrorClass = "rate-limited" | "auth" | "not-found" | "conflict" | "validation" | "transient";

/** Longest message that is passed on, in characters (TUN-005). */
const MAX_MESSAGE = 512;

/** Codes that decide beside the status. */
const AUTH_CODES: readonly number[] = [10000, 9109, 6003, 6111];
const NOT_FOUND_CODES: readonly number[] = [81044, 10006, 11021];
const CONFLICT_CODES: readonly number[] = [1013, 81053, 81054, 81057, 81058, 10004];

export interface ApiErrorFacts {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Codes of the envelope, in their order. */
  readonly codes: readonly number[];
  readonly message: string;
  /** Method and path of the call, without host and query. */
  readonly call: string;
  /** What the server asked to wait for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Right of the token that the call needs. */
  readonly permission?: string;
}

/** A call that did not succeed. The message holds no credential. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly codes: readonly number[];
  readonly class: ApiErrorClass;
  readonly call: string;
  readonly retryAfterMs: number | undefined;
  readonly permission: string | undefined;

  constructor(facts: ApiErrorFacts) {
    super(facts.message.slice(0, MAX_MESSAGE));
    this.status = facts.status;
    this.codes = facts.codes;
    this.class = classOf(facts.status, facts.codes);
    this.call = facts.call;
    this.retryAfterMs = facts.retryAfterMs;
    this.permission = this.class === "auth" && facts.status === 403 ? facts.permission : undefined;
  }

  /** Whether the envelope carries one of the codes. */
  is(...codes: readonly number[]): boolean {
    return this.codes.some((code) => codes.includes(code));
  }
}

/** Class of an outcome. The codes refine answers of the 4xx range alone. */
export function classOf(status: number, codes: readonly number[]): ApiErrorClass {
  if (status === 429) return "rate-limited";
  if (status === 0 || status === 408 || status >= 500) return "transient";
  const has = (known: readonly number[]): boolean => codes.some((code) => known.includes(code));
  if (status === 401 || status === 403) return "auth";
  if (status === 404 || (status >= 400 && has(NOT_FOUND_CODES))) return "not-found";
  if (status === 409 || (status >= 400 && has(CONFLICT_CODES))) return "conflict";
  return status >= 400 && has(AUTH_CODES) ? "auth" : "validation";
}
