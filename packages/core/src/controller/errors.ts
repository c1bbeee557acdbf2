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
