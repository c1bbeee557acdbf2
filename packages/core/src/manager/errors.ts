/** Errors that end a manager, and the exit codes that they mean. */
import { ConfigurationError } from "../client/errors.ts";

/** Exit codes of the program. */
export const EXIT = {
  clean: 0,
  /** Runtime failure or lost lease. */
  failure: 1,
  /** Bad configuration. */
  configuration: 2,
  /** Missing rights, found before anything started. */
  preflight: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** This process no longer leads, or cannot be sure that it does. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";

  constructor(detail?: string) {
    super(detail === undefined ? "leader election lost" : `leader election lost: ${detail}`);
  }
}

/** Rights are missing; `rules` is the YAML of what has to be granted. */
export class PreflightError extends Error {
  override readonly name = "PreflightError";
  readonly rules: string;

  constructor(rules: string) {
    super(`missing rights; grant these rules to the manager's service account:\n${rules}`);
    this.rules = rules;
  }
}

/** Something was added to a manager that is stopping. */
export class ManagerStoppedError extends Error {
  override readonly name = "ManagerStoppedError";

  constructor(what: string) {
    super(`cannot add ${what}: the manager is stopping`);
  }
}

/** Exit code for the error that ended a program; 0 without one. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error === undefined) return EXIT.clean;
  if (error instanceof ConfigurationError) return EXIT.configuration;
  return error instanceof PreflightError ? EXIT.preflight : EXIT.failure;
}
