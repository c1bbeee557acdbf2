/** What a check of health is. */

/** Says why something is not well, or `undefined` when it is. A throw counts as not well. */
export interface HealthCheck {
  (): string | undefined | Promise<string | undefined>;
  /** A failure is told, and fails the path of the check, but not the endpoint as a whole. */
  readonly advisory?: true;
}

/** A check whose failure leaves the endpoint as a whole well. */
export function advisory(check: HealthCheck): HealthCheck {
  return Object.assign(() => check(), { advisory: true } as const);
}
