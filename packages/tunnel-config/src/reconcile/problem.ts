/** Why an object cannot be brought to its desired state now, and when to look again. */
import { ApiError, type ApiErrorClass } from "../cloudflare/errors.ts";

const MINUTE_MS = 60_000;

/** A known obstacle: told in the object's condition, tried again after a while or when something changes. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** Reason of the condition. */
  readonly reason: string;
  /** Milliseconds until the next try; nothing when only a change can help. */
  readonly retryAfterMs: number | undefined;
  /** Whether tries should become rarer. */
  readonly transient: boolean;
  /** Reason of the event. */
  readonly event: string;

  constructor(
    reason: string,
    message: string,
    options: { retryAfterMs?: number; transient?: boolean; event?: string } = {},
  ) {
    super(message);
    this.reason = reason;
    this.event = options.event ?? reason;
    this.retryAfterMs = options.retryAfterMs;
    this.transient = options.transient === true;
  }
}

const REASONS: Readonly<Record<ApiErrorClass, string>> = {
  "rate-limited": "RateLimited",
  auth: "AuthError",
  "not-found": "NotFound",
  conflict: "Conflict",
  validation: "InvalidConfig",
  transient: "APIError",
};

/** The obstacle behind an error; errors that are none are thrown on. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof ApiError)) throw error;
  const { message, retryAfterMs } = error;
  const reason = error.permission === undefined ? REASONS[error.class] : "PermissionDenied";
  switch (error.class) {
    case "rate-limited":
      return new Problem(reason, message, { retryAfterMs: retryAfterMs ?? MINUTE_MS });
    case "auth":
      return new Problem(reason, message, { retryAfterMs: 5 * MINUTE_MS });
    case "validation":
      return new Problem(reason, message, { retryAfterMs: 60 * MINUTE_MS });
    default:
      return new Problem(reason, message, { transient: true });
  }
}
