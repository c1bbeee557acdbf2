/** Writes that the API server of the cluster refuses. */
import { ApiError, problemOf } from "@quartet/core";
import { Problem } from "./problem.ts";

/**
 * The obstacle that a refused write is, in the server's own words; tried again at growing intervals. Nothing for other
 * errors; a conflict is thrown on, for the cache lags behind.
 */
export function refusalOf(error: unknown): Problem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { reason, message } = problemOf("the object", error);
  return new Problem(reason, message, { transient: true });
}
