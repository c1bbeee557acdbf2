/** Why cloudflared refuses a configuration. */

export type IngressProblem =
  | "no-rules"
  | "malformed"
  | "service"
  | "hostname"
  | "path"
  | "catch-all"
  | "access"
  | "ip-rules";

/** The first thing that cloudflared objects to; `rule` is the index of the rule, from 0. */
export class IngressError extends Error {
  override readonly name = "IngressError";
  readonly problem: IngressProblem;
  readonly rule: number | undefined;

  constructor(problem: IngressProblem, message: string, rule?: number) {
    super(message);
    this.problem = problem;
    this.rule = rule;
  }
}
