/** Errors that end the agent or a run, each with a text for the user. */

/** The call is wrong: exit 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A file, a variable or what they name is wrong: exit 1. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** How a failed run is taken up again. */
export type Retry = "when something changes" | "soon";

/** A run of a resource failed. */
export class RunError extends Error {
  override readonly name = "RunError";
  readonly retry: Retry;
  constructor(message: string, retry: Retry, options?: ErrorOptions) {
    super(message, options);
    this.retry = retry;
  }
}

/** A backend did not give what was asked. */
export class BackendError extends Error {
  override readonly name = "BackendError";
  /** True when other ranges of the same backend may well be readable, e.g. after a refusal of this one. */
  readonly onlyThisRange: boolean;
  constructor(
    message: string,
    { onlyThisRange = false, ...options }: ErrorOptions & { onlyThisRange?: boolean } = {},
  ) {
    super(message, options);
    this.onlyThisRange = onlyThisRange;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The code of a system error, e.g. ENOSPC. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
