/** What a failed list or watch means for a reflector, and how long it waits after it. */
import { ApiError, isResourceVersionTooLarge, type StatusDetails } from "../../client/errors.ts";
import type { KubeObject } from "../../object.ts";
import type { SourceState } from "../types.ts";

/** Longest wait that a server may ask for; as for any request of the client. */
const MAX_RETRY_AFTER_SECONDS = 30;

interface StatusObject {
  code?: number;
  reason?: string;
  message?: string;
  metadata?: { continue?: string };
  details?: Omit<StatusDetails, "causes"> & {
    causes?: StatusDetails["causes"];
    retryAfterSeconds?: number;
  };
}

/** Error for the Status that an ERROR event carries; `path` is that of the collection. */
export function errorOfEvent(object: KubeObject, path: string): ApiError {
  const status = object as unknown as StatusObject;
  return new ApiError({
    code: status.code ?? 500,
    reason: status.reason ?? "",
    message: status.message ?? "the server ended the watch with an error",
    details: { ...status.details, causes: status.details?.causes ?? [] },
    retryAfterSeconds: status.details?.retryAfterSeconds,
    continueToken: status.metadata?.continue,
    method: "GET",
    path,
  });
}

/** The state that a missing kind (404) or a missing right (403) puts the source into. */
export function absence(error: unknown): Extract<SourceState, "waiting-for-kind" | "forbidden"> | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.code === 404 ? "waiting-for-kind" : error.code === 403 ? "forbidden" : undefined;
}

/** The asked resource version or page token is no longer there, or not there yet. */
export function isVersionUnavailable(error: unknown): boolean {
  return isGone(error) || isResourceVersionTooLarge(error);
}

/** 410, with whatever reason. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 410;
}

/**
 * The server does not do streaming lists: it refuses the parameters (feature gate off), or its etcd lacks progress
 * notifications, which it says in an ERROR event only.
 */
export function refusesStreaming(error: unknown): boolean {
  return isBadRequest(error) || (isServerError(error) && error.message.includes("RequestWatchProgress"));
}

/** 400 or 422: the request itself is wrong, by its parameters. */
export function isBadRequest(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 400 || error.code === 422);
}

/** 500. Unlike 503 and its like it may come back for the same resource version again and again. */
export function isServerError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 500;
}

/** Token with which an expired list may go on. */
export function continueTokenOf(error: unknown): string | undefined {
  return error instanceof ApiError && error.continueToken !== "" ? error.continueToken : undefined;
}

/** Milliseconds that the server asked to wait; 0 when it did not. */
export function retryAfterMs(error: unknown): number {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1_000;
}

/** First wait, growth, and longest wait before jitter: client-go's reflector. */
const BASE_MS = 800;
const FACTOR = 2;
const CAP_MS = 30_000;
/** A failure this long after the one before it starts over; client-go's reflector. */
const RESET_AFTER_MS = 120_000;

export interface Backoff {
  /** Failures in a row. */
  readonly failures: number;
  /** Time of the last one on the monotonic clock. */
  readonly lastFailureAt: number;
}

/** Backoff before any failure. */
export const NO_BACKOFF: Backoff = Object.freeze({ failures: 0, lastFailureAt: 0 });

/** Counts a failure at `now`; `random` gives numbers in [0, 1) for the jitter of 0–100 %. */
export function backOff(
  backoff: Backoff,
  now: number,
  random: () => number,
): { backoff: Backoff; delayMs: number } {
  const stale = now - backoff.lastFailureAt > RESET_AFTER_MS;
  const before = stale ? 0 : backoff.failures;
  const delay = Math.min(CAP_MS, BASE_MS * FACTOR ** before);
  return { backoff: { failures: before + 1, lastFailureAt: now }, delayMs: delay * (1 + random()) };
}
