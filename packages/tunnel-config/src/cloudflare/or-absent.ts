/** Answers that there is none. */
import { ApiError } from "./errors.ts";

/** Nothing instead of an answer that there is none. */
export async function orAbsent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.class === "not-found") return undefined;
    throw error;
  }
}
