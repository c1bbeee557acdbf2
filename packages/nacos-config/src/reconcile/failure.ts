/** Turns what kept a step from being done into what the status says of it. */
import type { Problem } from "@quartet/core";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";

/** The failure of a step; `more` says it in other words, or puts it under another condition. */
export function failureOf(
  { reason, message, retryAfterMs }: Problem,
  more: Partial<StepFailure> = {},
): StepFailure {
  return { code: EVENT_CODES.other, reason, message, ...(retryAfterMs && { retryAfterMs }), ...more };
}

/** A pod spec that the server does not take is a fault of the resource's own spec. */
export function podSpecFailure(problem: Problem): StepFailure {
  if (problem.cause !== "invalid") return failureOf(problem);
  return failureOf(problem, {
    reason: "PodSpecRejected",
    condition: "SpecValid",
    code: EVENT_CODES.badParameter,
  });
}
