/** Reading of a webhook call's body, within bounds. */
import type { IncomingMessage } from "node:http";
import { type BodyBudget, FREE_BYTES } from "./body-budget.ts";
import { HttpError } from "./http-error.ts";

/** Largest body: two objects of 1.5 MiB, their managed fields and the review around them (CORE-332). */
const MAX_BODY_BYTES = 7 * 1024 * 1024;

/**
 * Hands the decoded JSON body to `use`, and counts its bytes until that has ended. Throws {@link HttpError} 415, 413 or
 * 400; a body that has not come when the signal aborts is not waited for.
 */
export async function withJsonBody<T>(
  request: IncomingMessage,
  options: { budget: BodyBudget; signal: AbortSignal },
  use: (body: unknown) => Promise<T> | T,
): Promise<T> {
  const { budget, signal } = options;
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new HttpError(415, "content type must be application/json");
  let taken = 0;
  const onAbort = (): void => void request.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new HttpError(413, `body is larger than ${MAX_BODY_BYTES} bytes`);
      const wanted = Math.max(0, size - FREE_BYTES) - taken;
      if (wanted > 0) {
        await budget.take(wanted, signal);
        taken += wanted;
      }
      chunks.push(chunk);
    }
    signal.removeEventListener("abort", onAbort);
    if (size === 0) throw new HttpError(400, "body is empty");
    return await use(parsed(chunks));
  } finally {
    signal.removeEventListener("abort", onAbort);
    budget.give(taken);
  }
}

function parsed(chunks: readonly Buffer[]): unknown {
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new HttpError(400, "body is not JSON");
  }
}
