/** Errors of reconciles and of building controllers. */
import { isNotFound } from "../client/errors.ts";
import type { Kind, ObjectKey } from "../object.ts";

/** Reason of a condition that tells of a {@link TerminalError} without one of its own. */
const TERMINAL_REASON = "TerminalError";

/** Retrying cannot help until the object changes: the key is not queued again (CORE-227). */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  /** CamelCase word for the condition `Stalled` (CORE-304). */
  readonly reason: string;

  constructor(message: string, options: ErrorOptions & { reason?: string } = {}) {
    super(message, options);
    this.reason = options.reason ?? TERMINAL_REASON;
  }
}

/** A controller that is put together wrongly; the message names it. */
export class ControllerSetupError extends Error {
  override readonly name = "ControllerSetupError";

  constructor(controller: string, message: string) {
    super(`controller ${JSON.stringify(controller)}: ${message}`);
  }
}

/** The {@link TerminalError} that an error is, or has among its causes. */
export function terminalErrorIn(error: unknown): TerminalError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof TerminalError) return at;
  return undefined;
}

/** Errors that only a fault of the program can bring about (CORE-230). */
export function isPanic(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}

/** A 404 about the key's own object: it was deleted meanwhile, which is a success (CORE-228). */
export function isOwnNotFound(error: unknown, kind: Kind | undefined, key: ObjectKey): boolean {
  if (kind === undefined || !isNotFound(error)) return false;
  const { name, group = "", kind: resource } = error.details;
  const sameKind = group === kind.group && (resource === kind.plural || resource === kind.kind);
  return sameKind && name === key.name;
}

/** Something that a resource refers to cannot be read, which does not say that it is not there. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

/** Longest wait that a {@link RetryAfterError} may ask for, milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * The key is to run again after a while that somebody else has set, such as a service that limits its callers. It
 * counts as no failure, and the time is kept exactly (CORE-227).
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  /** Milliseconds, at most an hour. */
  readonly afterMs: number;

  constructor(message: string, afterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.afterMs = Math.min(MAX_RETRY_AFTER_MS, Math.max(0, afterMs));
  }
}

/** The {@link RetryAfterError} that an error is, or has among its causes. */
export function retryAfterIn(error: unknown): RetryAfterError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof RetryAfterError) return at;
  return undefined;
}
