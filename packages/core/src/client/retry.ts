/** Decides whether a request is repeated, and after what wait. */
import { ConnectionError } from "./errors.ts";
import type { ExchangeFailure } from "./exchange.ts";
import { retryAfterSeconds } from "./status-error.ts";

/** Repeats of an answer that asks to come back later; client-go has 10. CORE-110. */
const MAX_THROTTLED = 10;
/** Longest wait before one of them. CORE-110. */
const MAX_RETRY_AFTER_SECONDS = 30;
/** Repeats of a read whose connection failed, and the wait before each; as in client-go. CORE-111. */
const MAX_CONNECTION_RETRIES = 10;
const CONNECTION_RETRY_MS = 1_000;

/**
 * What may be repeated when the connection broke: `reads` always; `idempotent` writes once, if the socket was an idle
 * one that the server may have closed just then; `never` for all others, since the server may have acted already.
 */
export type Repeatable = "reads" | "idempotent" | "never";

/** What has been tried for one request. */
export interface Trail {
  readonly repeatable: Repeatable;
  throttled: number;
  resets: number;
  refreshed: boolean;
  repeatedOnReuse: boolean;
}

/** Trail of a request that was not sent yet. */
export function newTrail(repeatable: Repeatable): Trail {
  return { repeatable, throttled: 0, resets: 0, refreshed: false, repeatedOnReuse: false };
}

export type Outcome =
  /** `refreshable`: the connection can renew its credentials. */
  { code: number; retryAfter: string | undefined; refreshable: boolean } | { failure: ExchangeFailure };

export type Step =
  | { action: "return" }
  /** Repeat after new credentials were obtained. */
  | { action: "refresh" }
  | { action: "wait"; ms: number };

/** The next step after an outcome; counts it in the trail. */
export function nextStep(trail: Trail, outcome: Outcome): Step {
  if ("failure" in outcome) return afterFailure(trail, outcome.failure);
  const { code, retryAfter, refreshable } = outcome;
  if (code < 400) return { action: "return" };
  if (code === 401 && refreshable && !trail.refreshed) {
    trail.refreshed = true;
    return { action: "refresh" };
  }
  const seconds = retryAfterSeconds(retryAfter);
  const askedToWait = (code === 429 || code >= 500) && seconds !== undefined;
  if (!askedToWait || trail.throttled >= MAX_THROTTLED) return { action: "return" };
  trail.throttled++;
  return { action: "wait", ms: Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000 };
}

function afterFailure(trail: Trail, failure: ExchangeFailure): Step {
  const code = failure.error instanceof ConnectionError ? failure.error.code : "";
  const reset = code === "ECONNRESET" || code === "EPIPE";
  if (reset && failure.reusedSocket && !trail.repeatedOnReuse && trail.repeatable !== "never") {
    trail.repeatedOnReuse = true;
    return { action: "wait", ms: 0 };
  }
  const lost = reset || code === "ECONNREFUSED";
  if (!lost || trail.repeatable !== "reads" || trail.resets >= MAX_CONNECTION_RETRIES) {
    return { action: "return" };
  }
  trail.resets++;
  return { action: "wait", ms: CONNECTION_RETRY_MS };
}
